// Scripts run: what stands for readers without them is for paper only now.
document.getElementById("static")?.classList.add("paper-only");
