// Scripts run, so the list for readers without scripts is needed on paper only.
document.getElementById("static")?.classList.add("paper-only");
