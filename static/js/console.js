// What every page can do beyond HTML: theme, copy buttons, relative times, toasts, menus, search keys.
(() => {
  "use strict";
  const THEMES = ["system", "light", "dark"];
  const root = document.documentElement;

  // Theme -----------------------------------------------------------------------------------------------------------
  const theme = () => root.dataset.theme ?? "system";

  function setTheme(next) {
    if (next === "system") delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      if (next === "system") localStorage.removeItem("namzu-theme");
      else localStorage.setItem("namzu-theme", next);
    } catch {
      // not kept, but shown
    }
    labelThemeToggles();
  }

  function labelThemeToggles() {
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      button.hidden = false;
      button.setAttribute("aria-label", `Theme: ${theme()}. Change`);
      button.title = `Theme: ${theme()}`;
    }
  }

  // Toasts ----------------------------------------------------------------------------------------------------------
  function toast(text, level = "info") {
    const place = document.getElementById("toasts");
    if (!place) return;
    const box = document.createElement("div");
    box.className = level === "error" ? "toast toast--error" : "toast";
    box.dataset.toast = "";
    const words = document.createElement("span");
    words.textContent = text;
    box.append(words);
    place.append(box);
  }

  function keepToast(box) {
    if (box.dataset.kept) return;
    box.dataset.kept = "1";
    const dismiss = box.querySelector("[data-dismiss]");
    if (dismiss) dismiss.hidden = false;
    if (box.classList.contains("toast--error")) return; // errors stay until they are dismissed
    const leave = () => {
      if (box.matches(":hover, :focus-within")) setTimeout(leave, 2000);
      else box.remove();
    };
    setTimeout(leave, 6000);
  }

  // Copy buttons ----------------------------------------------------------------------------------------------------
  async function copy(button) {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      toast(`Copied ${button.dataset.copy.length > 60 ? "to the clipboard" : button.dataset.copy}`);
    } catch {
      toast("The browser does not allow copying here.", "error");
    }
  }

  // Times -----------------------------------------------------------------------------------------------------------
  const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  const STEPS = [
    [60, 1, "s"],
    [3600, 60, "min"],
    [86400, 3600, "h"],
    [2592000, 86400, "d"],
    [31536000, 2592000, "mo"],
    [Infinity, 31536000, "y"],
  ];

  function relative(instant, now) {
    const seconds = Math.round((now - instant) / 1000);
    const away = Math.abs(seconds);
    if (away < 5) return "just now";
    const [, size, unit] = STEPS.find(([limit]) => away < limit);
    const words = `${Math.floor(away / size)} ${unit}`;
    return seconds < 0 ? `in ${words}` : `${words} ago`;
  }

  function showTimes(within = document) {
    const now = Date.now();
    for (const time of within.querySelectorAll("time[data-relative]")) {
      const instant = new Date(time.dateTime);
      if (Number.isNaN(instant.getTime())) continue;
      const words = relative(instant, now);
      if (time.textContent !== words) time.textContent = words;
      if (time.dataset.titled !== time.dateTime) {
        time.dataset.titled = time.dateTime;
        time.title = `${LOCAL.format(instant)} local\n${time.dateTime.replace("T", " ").replace("Z", "")} UTC`;
      }
    }
  }

  // Menus -----------------------------------------------------------------------------------------------------------
  function closeMenus(except) {
    for (const menu of document.querySelectorAll("details[data-menu][open]")) {
      if (menu !== except) menu.open = false;
    }
  }

  function onEscape() {
    const menu = document.querySelector("details[data-menu][open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  }

  // Whoever tabs on has left the menu.
  document.addEventListener("focusin", (event) => closeMenus(event.target.closest("details[data-menu]")));

  // Search keys -----------------------------------------------------------------------------------------------------
  const typing = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;

  function focusSearch() {
    const fields = [...document.querySelectorAll("[data-search]")].filter((field) => field.checkVisibility());
    const field = fields.at(-1); // a page's own filter comes after the top bar's search
    if (!field) return false;
    field.focus();
    field.select();
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") onEscape();
    const slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !typing(event.target);
    const chord = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey;
    if ((slash || chord) && focusSearch()) event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : document.body;
    closeMenus(target.closest("details[data-menu]"));
    if (target.closest("[data-theme-toggle]")) setTheme(THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]);
    const button = target.closest("[data-copy]");
    if (button) copy(button);
    target.closest("[data-dismiss]")?.closest("[data-toast]")?.remove();
  });

  // What has just come in: rows swapped by htmx, toasts, menus. One observer, so that no caller has to remember.
  function freshen() {
    showTimes();
    labelThemeToggles();
    document.querySelectorAll("[data-toast]").forEach(keepToast);
  }

  let queued = false;
  new MutationObserver(() => {
    if (queued) return;
    queued = true;
    queueMicrotask(() => {
      queued = false;
      freshen();
    });
  }).observe(root, { childList: true, subtree: true });

  freshen();
  setInterval(showTimes, 20_000);
  window.namzu = Object.freeze({ toast });
})();
