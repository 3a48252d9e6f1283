/** The theme switch: dark or light. Follows the system until the user chooses; the choice is saved. */

export const THEME_CHANGE = 'themechange';

function isDark(): boolean {
  const chosen = document.documentElement.dataset['theme'];
  if (chosen !== undefined) return chosen === 'dark';
  return window.matchMedia('(prefers-color-scheme: dark)').matches;
}

export function setUpTheme(toggle: HTMLElement): void {
  const show = (): void => {
    toggle.setAttribute('aria-label', isDark() ? 'Switch to light theme' : 'Switch to dark theme');
    toggle.setAttribute('title', isDark() ? 'Switch to light theme' : 'Switch to dark theme');
    document.dispatchEvent(new Event(THEME_CHANGE));
  };
  toggle.addEventListener('click', () => {
    const chosen = isDark() ? 'light' : 'dark';
    document.documentElement.dataset['theme'] = chosen;
    try {
      localStorage.setItem('theme', chosen);
    } catch {
      // Without storage, the choice lasts until the user leaves the page.
    }
    show();
  });
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
  show();
}

/** A color of the style sheet, for canvases. */
export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
