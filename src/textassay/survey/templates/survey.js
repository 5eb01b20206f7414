// Everything here is a convenience: each page does its work without it.
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);

  // Screen readers and the keyboard begin at the heading of the new page, above the text that is to be read.
  const heading = byId("top");
  if (heading && !location.hash) heading.focus({ preventScroll: true });

  // A live region is only spoken when it changes, so the message is put in once the page stands.
  const status = byId("status");
  if (status && status.textContent) {
    const message = status.textContent;
    status.textContent = "";
    setTimeout(() => { status.textContent = message; }, 150);
  }

  // The first click counts. A page that comes back from the browser's memory may send again, and one that is still there
  // after a while: then the first time came to nothing (Stop, a lost network), or it counts once all the same.
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

  // The address without its question mark is the one to keep.
  if (location.search) history.replaceState(null, "", location.pathname);

  const answer = byId("answer");
  const undo = byId("undo-button");
  const remembered = (value) => {
    // Where a browser keeps nothing for us, keys are on at every page.
    try {
      if (value !== undefined) localStorage.setItem("keys", value);
      return localStorage.getItem("keys");
    } catch {
      return value;
    }
  };
  // Single keys get in the way of those who dictate, so they can be switched off.
  let keyed = Boolean(answer) && remembered() !== "off";
  const showKeys = () => {
    document.body.classList.toggle("keyed", keyed);
    byId("keys-help").hidden = !keyed;
    byId("keys-switch").textContent = keyed ? "Turn keys off" : "Turn keys on";
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
        byId("copied").textContent = "Copied.";
      } catch {
        byId("copied").textContent = "Please copy it by hand.";
      }
    });
  }

  const data = byId("data");
  if (data) {
    const every = 5000;
    const clock = () => new Date().toLocaleTimeString();
    const say = (text) => { byId("fresh").textContent = text; };
    let last = clock();
    say(`Updated at ${last}, again every ${every / 1000} seconds`);
    const refresh = async () => {
      if (document.hidden) return;
      try {
        const response = await fetch(data.dataset.url, { cache: "no-store", redirect: "error" });
        if (!response.ok) throw new Error(String(response.status));
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        data.replaceChildren(...page.body.childNodes);
        last = clock();
        say(`Updated at ${last}, again every ${every / 1000} seconds`);
      } catch {
        say(`No answer from the server; last updated at ${last}, still trying`);
      }
    };
    setInterval(refresh, every);
    document.addEventListener("visibilitychange", refresh);
  }
})();
