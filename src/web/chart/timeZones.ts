/** Times in UTC or in the time zone of the browser. Reads the zone of the browser, and is otherwise pure. */
export type Zone = 'utc' | 'local';

const MONTH = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' });

/** Unix seconds that show the clock of the zone when they are read as UTC. */
export function toClock(timestamp: number, zone: Zone): number {
  return zone === 'utc' ? timestamp : timestamp - new Date(timestamp * 1000).getTimezoneOffset() * 60;
}

/** 2027-11-21 17:51, in the zone. */
export function formatMinute(timestamp: number, zone: Zone): string {
  return new Date(toClock(timestamp, zone) * 1000).toISOString().slice(0, 16).replace('T', ' ');
}

/** The name of the zone, for example Europe/Berlin. */
export function zoneName(zone: Zone): string {
  return zone === 'utc' ? 'UTC' : new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The label of a tick: a year, a month, a day or a time. */
export function formatTick(timestamp: number, unit: 'year' | 'month' | 'day' | 'time', zone: Zone): string {
  const text = formatMinute(timestamp, zone);
  if (unit === 'year') return text.slice(0, 4);
  if (unit === 'month') return MONTH.format(toClock(timestamp, zone) * 1000);
  return unit === 'day' ? String(Number(text.slice(8, 10))) : text.slice(11);
}
