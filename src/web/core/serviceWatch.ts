/** Asks the service for its state, shows it in the header, and tells failed parts of the page when it is back. */
import type { ReadyAnswer } from '../../wire/ready';
import { getReadiness } from './api.ts';
import { byId } from './dom.ts';
import { formatCount } from './format.ts';
import type { LiveStream } from './live.ts';
import { isAnyWaiting, tellBack } from './recovery.ts';
import { firstProblem, isStale, proofText, stateOf, type LiveState } from './serviceState.ts';

/** Pause between two questions, and while a part of the page waits for the service. */
const POLL_MS = 5_000;
const POLL_MS_WAITING = 1_500;
const TICK_MS = 500;

interface ServiceWatch {
  /** Shows a new block. */
  seeBlock(block: number): void;
}

export function watchService(live: LiveStream): ServiceWatch {
  const watch = new Watch();
  live.onstate((state) => watch.seeStream(state));
  watch.tick();
  setInterval(() => watch.tick(), TICK_MS);
  document.addEventListener('visibilitychange', () => watch.wake());
  return watch;
}

class Watch implements ServiceWatch {
  private readonly dot = byId('live');
  private readonly words = byId('state-text');
  private readonly number = byId('block');
  private readonly trouble = byId('trouble');
  private answer: ReadyAnswer | null = null;
  private isReached = true;
  private isAsking = false;
  private askedAt = Number.NEGATIVE_INFINITY;
  private knownAt = performance.now();
  private newerBlock = 0;
  private stream: LiveState = 'idle';

  tick(): void {
    if (document.hidden) return;
    const pause = isAnyWaiting() ? POLL_MS_WAITING : POLL_MS;
    if (!this.isAsking && performance.now() - this.askedAt >= pause) void this.ask();
    this.show();
  }

  /** After a pause the last answer is old, so the page waits for a new one. */
  wake(): void {
    this.answer = null;
    this.askedAt = Number.NEGATIVE_INFINITY;
    this.tick();
  }

  seeStream(state: LiveState): void {
    this.stream = state;
    this.show();
  }

  seeBlock(block: number): void {
    this.number.textContent = formatCount(block);
    if (block <= (this.answer?.checks.head.block_number ?? 0)) return;
    this.newerBlock = block;
    this.knownAt = performance.now();
    this.show();
  }

  private async ask(): Promise<void> {
    this.isAsking = true;
    this.askedAt = performance.now();
    try {
      const answer = await getReadiness(AbortSignal.timeout(POLL_MS));
      this.answer = answer;
      this.isReached = true;
      this.knownAt = performance.now();
      this.newerBlock = 0;
      if (answer.checks.database.ok && answer.checks.head.block_number !== null) tellBack();
    } catch {
      this.isReached = false;
    }
    this.isAsking = false;
    this.show();
  }

  private show(): void {
    const { answer, isReached, stream } = this;
    const sinceSeconds = (performance.now() - this.knownAt) / 1000;
    const state = stateOf({ answer, isReached, sinceSeconds, hasNewerBlock: this.newerBlock > 0, stream });
    this.dot.dataset['state'] = state.kind;
    if (this.words.textContent !== state.text) this.words.textContent = state.text;
    document.documentElement.toggleAttribute('data-stale', isStale(state));
    this.number.title = proofText(answer);
    const problem = isReached ? firstProblem(answer) : '';
    if (this.trouble.textContent !== problem) this.trouble.textContent = problem;
    this.trouble.hidden = problem === '';
  }
}
