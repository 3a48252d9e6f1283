/** Applies the saved theme before the page is drawn. This is a plain script that runs first, so the page
 * never shows the wrong theme for a moment. */
(() => {
  try {
    const chosen = localStorage.getItem('theme');
    if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset['theme'] = chosen;
  } catch {
    // Storage is not allowed, so the theme of the system applies.
  }
})();
