/** Keeps the choices of a user in the browser. */
import { parseLines, parseSettings, type ChartLines, type ChartSettings } from './chartSettings.ts';

const SETTINGS_KEY = 'chart-settings';

export const loadSettings = (): ChartSettings => parseSettings(read(SETTINGS_KEY));
export const saveSettings = (settings: ChartSettings): void => write(SETTINGS_KEY, JSON.stringify(settings));

/** The lines of a chart, by the API path of its bars. */
export const loadLines = (path: string): ChartLines => parseLines(read(`chart-lines:${path}`));

export function saveLines(path: string, lines: ChartLines): void {
  const key = `chart-lines:${path}`;
  if (Object.values(lines).some((prices) => prices.length > 0)) write(key, JSON.stringify(lines));
  else write(key, null);
}

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Without storage, the choice lasts until the user leaves the page.
  }
}
