// Every page also works without this script.
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);

  // Screen readers and keyboard users start at the heading of the new page.
  const heading = byId("top");
  if (heading && !location.hash) heading.focus({ preventScroll: true });

  // Screen readers announce a live region only when it changes, so the message is inserted after the page has loaded.
  const status = byId("status");
  if (status && status.textContent) {
    const message = status.textContent;
    status.textContent = "";
    setTimeout(() => { status.textContent = message; }, 150);
  }

  // Ignore repeated clicks. A page that is restored from the browser's cache may send again, and so may one that is
  // still shown after a while: the first request has then failed, or the server ignores the second one.
  for (const form of document.querySelectorAll('form[method="post"]')) {
    const allow = () => { delete form.dataset.sent; };
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) {
        event.preventDefault();
        return;
      }
      form.dataset.sent = "1";
      setTimeout(allow, 4000);
    });
    addEventListener("pageshow", allow);
  }

  // Remove the query, so that a bookmark has the plain address. The ids in a shared link stay, for a reload.
  if (new URLSearchParams(location.search).has("now")) history.replaceState(null, "", location.pathname);

  const answer = byId("answer");
  const undo = byId("undo-button");
  const remembered = (value) => {
    // If the browser does not allow storage, keys are on at every page.
    try {
      if (value !== undefined) localStorage.setItem("keys", value);
      return localStorage.getItem("keys");
    } catch {
      return value;
    }
  };
  // Single-key shortcuts interfere with speech input, so they can be switched off.
  let keyed = Boolean(answer) && remembered() !== "off";
  const showKeys = () => {
    document.body.classList.toggle("keyed", keyed);
    byId("keys-help").hidden = !keyed;
    byId("keys-switch").textContent = byId("keys-switch").dataset[keyed ? "off" : "on"];
  };
  if (answer) {
    byId("keys").hidden = false;
    showKeys();
    byId("keys-switch").addEventListener("click", () => {
      keyed = !keyed;
      remembered(keyed ? "on" : "off");
      showKeys();
    });
  }
  addEventListener("keydown", (event) => {
    if (!keyed || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (event.key.toLowerCase() === "u" && undo) {
      event.preventDefault();
      undo.click();
    } else if (/^[0-9]$/.test(event.key)) {
      const choice = answer.querySelector(`input[data-key="${event.key}"]`);
      if (!choice) return;
      choice.checked = true;
      choice.focus();
    } else if (event.key === "Enter" && !event.target.closest("button, a, input")) {
      event.preventDefault();
      answer.requestSubmit();
    }
  });

  const copy = byId("copy");
  if (copy && navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(byId("personal").textContent);
        byId("copied").textContent = copy.dataset.done;
      } catch {
        byId("copied").textContent = copy.dataset.failed;
      }
    });
  }

  const data = byId("data");
  if (data) {
    const every = 5000;
    const clock = () => new Date().toLocaleTimeString();
    const show = (text) => { byId("fresh").textContent = text; };
    let last = clock();
    show(`Updated at ${last}, and every ${every / 1000} seconds`);
    const refresh = async () => {
      if (document.hidden) return;
      try {
        const response = await fetch(data.dataset.url, { cache: "no-store", redirect: "error" });
        if (!response.ok) throw new Error(String(response.status));
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        data.replaceChildren(...page.body.childNodes);
        last = clock();
        show(`Updated at ${last}, and every ${every / 1000} seconds`);
      } catch {
        show(`The server does not respond; last updated at ${last}, trying again`);
      }
    };
    setInterval(refresh, every);
    document.addEventListener("visibilitychange", refresh);
  }
})();
