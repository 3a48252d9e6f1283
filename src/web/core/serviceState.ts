/** The state of the service in a few words, from /readyz and the live stream. Pure. */
import type { ReadyAnswer } from '../../wire/ready';

/** State of the live stream; `idle` while the page is hidden. */
export type LiveState = 'idle' | 'connecting' | 'live' | 'away';

/** Prices are current in the states `live`, `connecting` and `paused`, and old in all others. */
type StateKind = 'live' | 'connecting' | 'paused' | 'delayed' | 'backfilling' | 'away';

interface ServiceState {
  readonly kind: StateKind;
  readonly text: string;
}

/** The facts about the service from which its state follows. */
interface KnownState {
  /** The last answer of /readyz; null before the first one. */
  readonly answer: ReadyAnswer | null;
  /** Whether the last request to /readyz had an answer. */
  readonly isReached: boolean;
  /** Seconds since the answer, or since a newer block arrived. */
  readonly sinceSeconds: number;
  /** Whether a newer block than that of the answer has arrived since. */
  readonly hasNewerBlock: boolean;
  readonly stream: LiveState;
}

/** The page says that it is delayed if no block arrived for this many block times of the chain, but at least for 30 s. */
const BLOCK_TIMES_OF_DELAY = 4;
const DELAY_MIN_S = 30;

export function stateOf({
  answer,
  isReached,
  sinceSeconds,
  hasNewerBlock,
  stream,
}: KnownState): ServiceState {
  if (!isReached) return { kind: 'away', text: 'server away' };
  if (answer === null) return { kind: 'connecting', text: 'connecting' };
  const { database, head } = answer.checks;
  if (!database.ok) return { kind: 'away', text: 'database away' };
  if (answer.backfill !== null) return { kind: 'backfilling', text: backfillText(answer.backfill) };
  if (head.age_seconds === null) return { kind: 'away', text: 'no block yet' };
  const ageSeconds = sinceSeconds + (hasNewerBlock ? 0 : head.age_seconds);
  const allowedSeconds = Math.max(DELAY_MIN_S, BLOCK_TIMES_OF_DELAY * (head.block_seconds ?? 0));
  if (ageSeconds >= allowedSeconds)
    return { kind: 'delayed', text: `delayed by ${durationText(ageSeconds)}` };
  if (stream === 'idle') return { kind: 'paused', text: 'paused' };
  if (stream === 'live') return { kind: 'live', text: 'live' };
  return { kind: 'connecting', text: 'connecting' };
}

function backfillText({ done_pct, seconds_left }: NonNullable<ReadyAnswer['backfill']>): string {
  const leftText = seconds_left === null ? '' : `, ${durationText(seconds_left)} left`;
  return `backfilling, ${Math.floor(done_pct)} %${leftText}`;
}

/** A length of time: seconds below two minutes, then minutes, hours and days. */
function durationText(seconds: number): string {
  const wholeSeconds = Math.max(0, Math.round(seconds));
  if (wholeSeconds < 120) return `${wholeSeconds} s`;
  if (wholeSeconds < 7_200) return `${Math.round(wholeSeconds / 60)} min`;
  return wholeSeconds < 172_800
    ? `${Math.round(wholeSeconds / 3_600)} h`
    : `${Math.round(wholeSeconds / 86_400)} d`;
}

export function isStale({ kind }: ServiceState): boolean {
  return kind === 'delayed' || kind === 'backfilling' || kind === 'away';
}

/** Since which block the stored blocks are proven, and how far. Empty if no block is stored. */
export function proofText(answer: ReadyAnswer | null): string {
  const { level = null, proven_from: provenFrom = null } = answer?.proof ?? {};
  return level === null || provenFrom === null
    ? ''
    : `Proof: ${level} since block ${provenFrom.toLocaleString('en-US')}`;
}

/** The message of the first problem; empty without a problem. */
export function firstProblem(answer: ReadyAnswer | null): string {
  return answer?.problems[0]?.message ?? '';
}
