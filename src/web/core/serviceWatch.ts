/** Asks the service for its state, shows it in the header, and reloads failed parts of the page when it answers again. */
import type { ReadyAnswer } from '../../wire/ready';
import { getReadiness } from './api.ts';
import { byId } from './dom.ts';
import { formatCount } from './format.ts';
import type { LiveStream } from './live.ts';
import { hasWaitingRetries, retryWaiting } from './recovery.ts';
import { firstProblem, isStale, proofText, stateOf, type LiveState } from './serviceState.ts';

/** Pause between two requests to /readyz; shorter while a part of the page waits for the service. */
const POLL_MS = 5_000;
const POLL_MS_WAITING = 1_500;
const TICK_MS = 500;

interface ServiceWatch {
  /** Shows a new block. */
  showNewBlock(block: number): void;
}

export function watchService(live: LiveStream): ServiceWatch {
  const watch = new Watch();
  live.onstate((state) => watch.setStreamState(state));
  watch.tick();
  setInterval(() => watch.tick(), TICK_MS);
  document.addEventListener('visibilitychange', () => watch.restart());
  return watch;
}

class Watch implements ServiceWatch {
  private readonly dot = byId('live');
  private readonly stateText = byId('state-text');
  private readonly blockText = byId('block');
  private readonly problemText = byId('trouble');
  private answer: ReadyAnswer | null = null;
  private isReached = true;
  private isAsking = false;
  private askedAt = Number.NEGATIVE_INFINITY;
  private updatedAt = performance.now();
  private newerBlock = 0;
  private streamState: LiveState = 'idle';

  tick(): void {
    if (document.hidden) return;
    const pause = hasWaitingRetries() ? POLL_MS_WAITING : POLL_MS;
    if (!this.isAsking && performance.now() - this.askedAt >= pause) void this.askService();
    this.show();
  }

  /** After a pause the last answer is old, so the page waits for a new one. */
  restart(): void {
    this.answer = null;
    this.askedAt = Number.NEGATIVE_INFINITY;
    this.tick();
  }

  setStreamState(state: LiveState): void {
    this.streamState = state;
    this.show();
  }

  showNewBlock(block: number): void {
    this.blockText.textContent = formatCount(block);
    if (block <= (this.answer?.checks.head.block_number ?? 0)) return;
    this.newerBlock = block;
    this.updatedAt = performance.now();
    this.show();
  }

  private async askService(): Promise<void> {
    this.isAsking = true;
    this.askedAt = performance.now();
    try {
      const answer = await getReadiness(AbortSignal.timeout(POLL_MS));
      this.answer = answer;
      this.isReached = true;
      this.updatedAt = performance.now();
      this.newerBlock = 0;
      if (answer.checks.database.ok && answer.checks.head.block_number !== null) retryWaiting();
    } catch {
      this.isReached = false;
    }
    this.isAsking = false;
    this.show();
  }

  private show(): void {
    const { answer, isReached, streamState: stream } = this;
    const sinceSeconds = (performance.now() - this.updatedAt) / 1000;
    const state = stateOf({ answer, isReached, sinceSeconds, hasNewerBlock: this.newerBlock > 0, stream });
    this.dot.dataset['state'] = state.kind;
    if (this.stateText.textContent !== state.text) this.stateText.textContent = state.text;
    document.documentElement.toggleAttribute('data-stale', isStale(state));
    this.blockText.title = proofText(answer);
    const problem = isReached ? firstProblem(answer) : '';
    if (this.problemText.textContent !== problem) this.problemText.textContent = problem;
    this.problemText.hidden = problem === '';
  }
}
