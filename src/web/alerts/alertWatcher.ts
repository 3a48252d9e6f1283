/**
 * Checks the alerts at intervals, also while the page is hidden: the browser then slows the timer down to once a minute.
 * The live stream is not used, because it is closed while the page is hidden, and follows what the view shows.
 */
import type { ActivityEntry, SwapItem } from '../../wire/activity';
import type { PairsAnswer } from '../../wire/pairs';
import type { TokensAnswer } from '../../wire/tokens';
import { failureText, getAnswer } from '../core/api.ts';
import { pairPath, tokenPath, transactionPath } from '../core/app.ts';
import { formatUsd, formatUsdPrice, symbolOf } from '../core/format.ts';
import { isSwap } from '../market/largeSwaps.ts';
import { tokensOf } from '../list/tradeFrame.ts';
import { addHit, noteCheck, readAlerts, updateAlert, type Alert, type Hit } from './alertStore.ts';

const CHECK_MS = 10_000;
/** Swaps of one page, and most pages since the last check. */
const SWAPS_PER_PAGE = 100;
const PAGES_MAX = 3;
/** Most new pairs that one check reports. */
const PAIRS_MAX = 10;
/** Most swaps that one check reports for one alert. */
const SWAP_NOTICES_MAX = 5;
/** A block has fewer logs than this. */
const LOGS_PER_BLOCK = 2 ** 20;

/** `alertId` names the alert that caused the notice. */
type OnHit = (hit: Hit, alertId: string) => void;

export function watchAlerts(onhit: OnHit): void {
  const { signal } = new AbortController();
  const check = async (): Promise<void> => {
    const alerts = readAlerts();
    const checks = await Promise.allSettled([
      checkPrices(alerts, onhit, signal),
      ...alerts.map((alert) => checkEvents(alert, onhit, signal)),
    ]);
    const failedCheck = checks.find((settled) => settled.status === 'rejected');
    noteCheck(now(), failedCheck === undefined ? null : failureText(failedCheck.reason));
    setTimeout(() => void check(), CHECK_MS);
  };
  void check();
}

const now = (): number => Math.floor(Date.now() / 1000);

/** False if another tab has changed the alert since it was read, and so reported the event already. */
function isUnhandled(alert: Alert): boolean {
  return readAlerts().some(
    ({ id, seen, firedAt }) => id === alert.id && seen === alert.seen && firedAt === alert.firedAt,
  );
}

async function checkPrices(alerts: readonly Alert[], onhit: OnHit, signal: AbortSignal): Promise<void> {
  const priceAlerts = alerts.filter(
    ({ kind, firedAt }) => (kind === 'above' || kind === 'below') && firedAt === null,
  );
  if (priceAlerts.length === 0) return;
  const addresses = [...new Set(priceAlerts.map(({ token }) => token))].join(',');
  const { data } = await getAnswer<TokensAnswer>('/tokens', { addresses }, signal);
  for (const alert of priceAlerts) {
    const token = data.find(({ address }) => address === alert.token);
    const price = Number(token?.price_usd ?? Number.NaN);
    const isReached = alert.kind === 'above' ? price >= alert.usd : price <= alert.usd;
    if (!isReached || !isUnhandled(alert)) continue;
    updateAlert(alert.id, { firedAt: now() });
    const confidenceNote = token?.price_confidence === 'low' ? ', a price with low confidence' : '';
    const text = `${alert.symbol} is ${alert.kind} ${formatUsdPrice(alert.usd)}: now ${formatUsdPrice(price)}${confidenceNote}`;
    onhit({ text, hash: tokenPath(alert.token), at: now() }, alert.id);
  }
}

async function checkEvents(alert: Alert, onhit: OnHit, signal: AbortSignal): Promise<void> {
  if (alert.kind === 'swap') await checkSwaps(alert, onhit, signal);
  if (alert.kind === 'pair') await checkPairs(alert, onhit, signal);
}

interface ActivityPage {
  readonly data: readonly ActivityEntry[];
  readonly meta: { readonly next_cursor: string | null };
}

async function checkSwaps(alert: Alert, onhit: OnHit, signal: AbortSignal): Promise<void> {
  const newSwaps: SwapItem[] = [];
  let cursor: string | null = null;
  let newestPosition = alert.seen ?? 0;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = { event_type: 'swap', token: alert.token, limit: SWAPS_PER_PAGE, cursor };
    const answer: ActivityPage = await getAnswer<ActivityPage>('/activity', query, signal);
    const swaps = answer.data.filter(isSwap);
    newestPosition = Math.max(newestPosition, ...swaps.map(positionOf));
    // The first check only notes where the alert begins.
    if (alert.seen === null) break;
    const unseen = swaps.filter((swap) => positionOf(swap) > (alert.seen ?? 0));
    newSwaps.push(...unseen);
    cursor = answer.meta.next_cursor;
    if (cursor === null || unseen.length < swaps.length) break;
  }
  if (newestPosition === alert.seen || !isUnhandled(alert)) return;
  updateAlert(alert.id, { seen: newestPosition });
  if (newSwaps.length === SWAPS_PER_PAGE * PAGES_MAX)
    addNote(
      alert,
      `More than ${newSwaps.length} swaps of ${alert.symbol} since the last check: older ones were not watched`,
    );
  const largeSwaps = newSwaps.filter(({ amount_usd }) => amount_usd !== null && amount_usd >= alert.usd);
  if (largeSwaps.length > SWAP_NOTICES_MAX)
    addNote(
      alert,
      `${largeSwaps.length} large swaps of ${alert.symbol} since the last check: only the newest ${SWAP_NOTICES_MAX} are listed`,
    );
  for (const swap of largeSwaps.slice(0, SWAP_NOTICES_MAX).reverse()) {
    const side = swap.token_out === alert.token ? 'bought' : 'sold';
    const text = `${formatUsd(swap.amount_usd)} of ${alert.symbol} ${side} in ${tokensOf(swap).map(symbolOf).join('/')}`;
    onhit({ text, hash: transactionPath(swap.tx_hash), at: swap.timestamp }, alert.id);
  }
}

/** Adds a notice about events that the alert does not list one by one. */
function addNote({ token }: Alert, text: string): void {
  addHit({ text, hash: tokenPath(token), at: now() });
}

function positionOf({ block_number, log_index }: SwapItem): number {
  return block_number * LOGS_PER_BLOCK + log_index;
}

async function checkPairs(alert: Alert, onhit: OnHit, signal: AbortSignal): Promise<void> {
  const query = { token: alert.token, sort: 'created_at', limit: PAIRS_MAX + 1 };
  const { data, meta } = await getAnswer<PairsAnswer>('/pairs', query, signal);
  const { seen } = alert;
  if (meta.as_of_block === seen || !isUnhandled(alert)) return;
  updateAlert(alert.id, { seen: meta.as_of_block });
  // The first check only notes where the alert begins.
  if (seen === null) return;
  const newPairs = data.filter(({ created_block }) => (created_block ?? 0) > seen);
  if (newPairs.length > PAIRS_MAX)
    addNote(
      alert,
      `More than ${PAIRS_MAX} new pairs of ${alert.symbol} since the last check: only the newest are listed`,
    );
  for (const pair of newPairs.slice(0, PAIRS_MAX).reverse()) {
    const text = `New pair of ${alert.symbol}: ${pair.name} on ${pair.dex_name}`;
    onhit({ text, hash: pairPath(pair.address), at: pair.created_at ?? now() }, alert.id);
  }
}
