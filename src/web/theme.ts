/** Applies the saved theme before the page is drawn. A plain script, so no wrong theme flashes up. */
(() => {
  try {
    const chosen = localStorage.getItem('theme');
    if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset['theme'] = chosen;
  } catch {
    // Storage is not allowed, so the system's theme applies.
  }
})();
