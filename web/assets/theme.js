// Runs before the first paint: takes the stored theme, and says that scripts run, so that no page flashes.
(function () {
  "use strict";
  var root = document.documentElement, theme = null;
  root.classList.add("js");
  try { theme = localStorage.getItem("theme"); } catch (e) { /* storage may be forbidden */ }
  if (theme === "dark" || theme === "light") root.setAttribute("data-theme", theme);
})();
