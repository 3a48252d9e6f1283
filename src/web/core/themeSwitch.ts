/** The theme switch: dark or light. Follows the system until the user chooses; the choice is saved. */

export const THEME_CHANGE = 'themechange';

function isDark(): boolean {
  const chosenTheme = document.documentElement.dataset['theme'];
  if (chosenTheme !== undefined) return chosenTheme === 'dark';
  return window.matchMedia('(prefers-color-scheme: dark)').matches;
}

export function setUpTheme(toggle: HTMLElement): void {
  const showTheme = (): void => {
    toggle.setAttribute('aria-label', isDark() ? 'Switch to light theme' : 'Switch to dark theme');
    toggle.setAttribute('title', isDark() ? 'Switch to light theme' : 'Switch to dark theme');
    document.dispatchEvent(new Event(THEME_CHANGE));
  };
  toggle.addEventListener('click', () => {
    const chosenTheme = isDark() ? 'light' : 'dark';
    document.documentElement.dataset['theme'] = chosenTheme;
    try {
      localStorage.setItem('theme', chosenTheme);
    } catch {
      // Without storage, the choice lasts until the user leaves the page.
    }
    showTheme();
  });
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showTheme);
  showTheme();
}

/** A color of the style sheet, for canvases. */
export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
