/** Before anything is drawn: the theme that was chosen last time, if one was. A plain script, so that nothing flashes. */
(() => {
  try {
    const chosen = localStorage.getItem('theme');
    if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset['theme'] = chosen;
  } catch {
    // No storage is allowed: the system's theme it is.
  }
})();
