/** Applies the saved theme before the page is drawn. This is a plain script that runs first, so the page
 * never shows the wrong theme for a moment. */
(() => {
  try {
    const savedTheme = localStorage.getItem('theme');
    if (savedTheme === 'dark' || savedTheme === 'light')
      document.documentElement.dataset['theme'] = savedTheme;
  } catch {
    // Storage is not allowed, so the theme of the system applies.
  }
})();
