// A transcript: copying, opening and closing tools, links to messages, and keeping the reader's place while it grows.
(() => {
  "use strict";
  const KEY = "namzu-tools";
  const list = () => document.getElementById("transcript");

  // Tools: open or closed as the reader last chose ------------------------------------------------------------------
  let chosen = null;
  try {
    chosen = localStorage.getItem(KEY);
  } catch {
    // storage may be forbidden: then the choice lasts as long as the page
  }

  function setTools(within, state) {
    for (const call of within.querySelectorAll("details.call")) call.open = state === "open";
  }

  function chooseTools(state) {
    chosen = state;
    try {
      localStorage.setItem(KEY, state);
    } catch {
      // as above
    }
    setTools(list(), state);
  }

  // Copying: the message's own text, fetched, so that marks of hidden characters do not end up in it ------------------
  function textOf(message) {
    if (typeof message.content === "string" && message.content) return message.content;
    return JSON.stringify(message.toolCalls ?? message, null, 2);
  }

  async function fetchText(url) {
    const response = await fetch(url, { credentials: "same-origin" });
    if (!response.ok) throw new Error(String(response.status));
    return textOf(await response.json());
  }

  async function copyMessage(button) {
    const text = fetchText(button.dataset.copyMessage);
    try {
      // The promise goes into the clipboard item, so that the click still counts when the text arrives.
      const blob = text.then((value) => new Blob([value], { type: "text/plain" }));
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    } catch {
      window.namzu?.toast("The message could not be copied here; its JSON can be opened instead.", "error");
    }
  }

  // Links to messages -----------------------------------------------------------------------------------------------
  function show(id, scroll = true) {
    const message = id ? document.getElementById(id) : null;
    if (!message?.classList.contains("message")) return;
    for (const other of document.querySelectorAll(".message--marked")) other.classList.remove("message--marked");
    message.classList.add("message--marked");
    for (let fold = message.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (scroll) message.scrollIntoView({ block: "start" });
  }

  const anchor = () => decodeURIComponent(location.hash.slice(1));

  function follow(link) {
    history.replaceState(history.state, "", link.href);
    show(anchor(), false);
    window.namzu?.toast("The address now leads to this message");
  }

  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
    const copy = event.target.closest("[data-copy-message]");
    if (copy) copyMessage(copy);
    const tools = event.target.closest("[data-tools]");
    if (tools && list()) chooseTools(tools.dataset.tools);
    const link = event.target.closest("a.message-link");
    if (link && plain) {
      event.preventDefault();
      follow(link);
    }
  });

  // Growing upwards: what the reader looks at stays where it is -------------------------------------------------------
  let place = null;

  document.addEventListener("htmx:before:swap", (event) => {
    const more = event.target instanceof Element ? event.target.closest(".stretch-more--earlier") : null;
    if (!more) return;
    const message = more.parentElement.querySelector(".message");
    place = message ? { message, top: message.getBoundingClientRect().top } : null;
    // Before the next frame: else the link to yet earlier messages is seen at the top, and follows itself.
    new MutationObserver((_, self) => {
      self.disconnect();
      keepPlace();
    }).observe(more.parentElement, { childList: true });
  });

  function keepPlace() {
    if (!place) return;
    const moved = place.message.getBoundingClientRect().top - place.top;
    place = null;
    if (Math.abs(moved) > 1) window.scrollBy({ top: moved, behavior: "instant" });
  }

  // What has just come in -------------------------------------------------------------------------------------------
  function freshen() {
    if (!list()) return;
    for (const button of document.querySelectorAll("[data-copy-message], [data-tools]")) button.hidden = false;
    for (const message of list().querySelectorAll(".message:not([data-seen])")) {
      message.dataset.seen = "";
      if (chosen) setTools(message, chosen);
    }
  }

  // An output that scrolls in its place can be reached by keyboard.
  function reach(within) {
    for (const output of within.querySelectorAll(".call .output > div")) {
      if (output.scrollHeight > output.clientHeight + 1 || output.scrollWidth > output.clientWidth + 1) output.tabIndex = 0;
    }
  }

  document.addEventListener("toggle", (event) => event.target.matches?.("details.call") && reach(event.target), true);

  document.addEventListener("htmx:after:swap", freshen);
  window.addEventListener("hashchange", () => show(anchor()));
  window.addEventListener("beforeprint", () => list() && setTools(list(), "open"));
  freshen();
  show(anchor());
})();
