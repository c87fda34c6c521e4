// Runs before the first paint, so that the ground has the chosen theme from the beginning.

try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  /* The browser stores nothing: the theme is the system's. */
}
