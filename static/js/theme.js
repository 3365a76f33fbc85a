// Sets the chosen theme before the first paint: loaded in the head, blocking, tiny.
(() => {
  let theme = null;
  try {
    theme = localStorage.getItem("namzu-theme");
  } catch {
    // storage may be forbidden: then the system decides
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
