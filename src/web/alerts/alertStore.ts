/** The alerts of this browser and the notices that they caused, kept in localStorage. */
import { formatTime } from '../core/format.ts';
import { chainPrefix } from '../core/pageChain.ts';
import { fieldOf, isAddress, readStored, writeStored } from '../core/stored.ts';

export const ALERT_KINDS = ['above', 'below', 'swap', 'pair'] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

export interface Alert {
  readonly id: string;
  readonly kind: AlertKind;
  readonly token: string;
  readonly symbol: string;
  /** The price, or the least value of a swap, in USD; 0 for an alert about new pairs. */
  readonly usd: number;
  /** Position of the newest event, or number of the newest block, that was checked; null before the first check. */
  readonly seen: number | null;
  /** Time when a price alert fired, unix seconds; such an alert fires once. */
  readonly firedAt: number | null;
}

export interface Hit {
  readonly text: string;
  /** The place in this page that shows more. Older releases stored `#/token/…`, which still opens. */
  readonly hash: string;
  /** Unix seconds. */
  readonly at: number;
}

export const ALERTS_MAX = 20;
const HITS_MAX = 30;
/** Each chain has its own alerts. */
const ALERTS_KEY = `alerts${chainPrefix()}`;
const HITS_KEY = `alerts.hits${chainPrefix()}`;
const CHECKED_KEY = `alerts.checked${chainPrefix()}`;
/** A hidden page checks about once a minute. The page reports a longer pause. */
const UNWATCHED_SECONDS = 180;
const SYMBOL_MAX = 64;
const TEXT_MAX = 200;

const listeners = new Set<() => void>();

/** Calls back after each change of alerts or hits, also after a change in another tab. */
export function onAlerts(listener: () => void, signal: AbortSignal): void {
  listeners.add(listener);
  signal.addEventListener('abort', () => listeners.delete(listener));
}

window.addEventListener('storage', ({ key }) => {
  if (key === null || key === ALERTS_KEY || key === HITS_KEY) notifyListeners();
});

function notifyListeners(): void {
  for (const listener of listeners) listener();
}

// The alerts if the browser does not allow storage.
let alertsWithoutStorage: readonly Alert[] = [];

/** Reads the storage each time, because another tab may have changed it. */
export function readAlerts(): readonly Alert[] {
  const stored = readStored(ALERTS_KEY);
  return Array.isArray(stored) ? stored.slice(0, ALERTS_MAX).filter(isAlert) : alertsWithoutStorage;
}

function writeAlerts(alerts: readonly Alert[]): void {
  alertsWithoutStorage = alerts;
  writeStored(ALERTS_KEY, alerts);
  notifyListeners();
}

/** Newest first. */
export function readHits(): readonly Hit[] {
  const stored = readStored(HITS_KEY);
  return Array.isArray(stored) ? stored.slice(0, HITS_MAX).filter(isHit) : [];
}

export function addHit(hit: Hit): void {
  const shortHit = { ...hit, text: hit.text.slice(0, TEXT_MAX) };
  writeStored(HITS_KEY, [shortHit, ...readHits()].slice(0, HITS_MAX));
  notifyListeners();
}

/** Adds an alert; false if there are too many. */
export function addAlert(alert: Omit<Alert, 'id' | 'seen' | 'firedAt'>): boolean {
  const alerts = readAlerts();
  if (alerts.length >= ALERTS_MAX) return false;
  const id = Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join('');
  writeAlerts([...alerts, { ...alert, id, seen: null, firedAt: null }]);
  return true;
}

export function removeAlert(id: string): void {
  writeAlerts(readAlerts().filter((alert) => alert.id !== id));
}

/** Changes an alert, unless it is gone. */
export function updateAlert(id: string, fields: Partial<Pick<Alert, 'seen' | 'firedAt'>>): void {
  writeAlerts(readAlerts().map((alert) => (alert.id === id ? { ...alert, ...fields } : alert)));
}

/** Why the last check failed; null if it did not. */
let lastFailure: string | null = null;

/** Records a check that ended at `now`; `failure` says why it failed. Reports the time before it if no check ran for long. */
export function noteCheck(now: number, failure: string | null): void {
  const checkedAt = readCheckedAt();
  if (failure === null) writeStored(CHECKED_KEY, readAlerts().length === 0 ? null : now);
  if (failure === null && checkedAt !== null && now - checkedAt > UNWATCHED_SECONDS)
    addHit({
      text: `Nothing was watched from ${formatTime(checkedAt)} to ${formatTime(now)}`,
      hash: '/alerts',
      at: now,
    });
  if (failure === lastFailure) return;
  lastFailure = failure;
  notifyListeners();
}

function readCheckedAt(): number | null {
  const checkedAt = readStored(CHECKED_KEY);
  return typeof checkedAt === 'number' && isTime(checkedAt) ? checkedAt : null;
}

/** Since when alerts cannot be watched, and why; null while they can. */
export function watchFault(): string | null {
  const checkedAt = readCheckedAt();
  if (lastFailure === null || readAlerts().length === 0) return null;
  return `Not watched ${checkedAt === null ? 'yet' : `since ${formatTime(checkedAt)}`}: ${lastFailure}`;
}

function isTime(value: unknown): boolean {
  return value === null || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0);
}

function isAlert(value: unknown): value is Alert {
  const [id, symbol, usd] = [fieldOf(value, 'id'), fieldOf(value, 'symbol'), fieldOf(value, 'usd')];
  return (
    typeof id === 'string' &&
    /^[a-z0-9]{1,16}$/.test(id) &&
    ALERT_KINDS.some((kind) => kind === fieldOf(value, 'kind')) &&
    isAddress(fieldOf(value, 'token')) &&
    typeof symbol === 'string' &&
    symbol.length <= SYMBOL_MAX &&
    typeof usd === 'number' &&
    usd >= 0 &&
    isTime(fieldOf(value, 'seen')) &&
    isTime(fieldOf(value, 'firedAt'))
  );
}

function isHit(value: unknown): value is Hit {
  const [text, hash] = [fieldOf(value, 'text'), fieldOf(value, 'hash')];
  return (
    typeof text === 'string' &&
    text.length <= TEXT_MAX &&
    typeof hash === 'string' &&
    /^#?\/(alerts|(token|pair|tx)\/0x[0-9a-f]{1,64})$/.test(hash) &&
    typeof fieldOf(value, 'at') === 'number' &&
    isTime(fieldOf(value, 'at'))
  );
}
