// Sets the chosen theme, and that scripts run, before the first paint: loaded in the head, blocking, tiny.
(() => {
  document.documentElement.dataset.js = "";
  let theme = null;
  try {
    theme = localStorage.getItem("namzu-theme");
  } catch {
    // storage may be forbidden: then the system decides
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
