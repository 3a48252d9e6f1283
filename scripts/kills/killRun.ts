/**
 * Runs a growing chain with reorgs, kills the program that ingests it at random moments, and compares the results
 * after each recovery. `npm run kills` runs for a long time, and `test/full/e2e/kill.test.ts` runs for a short time.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { eventually } from '../../test/support/eventually';
import type { StubBranch, StubChain } from '../../test/support/stub/stubChain';
import type { Random } from '../../test/support/random';
import { StubTruth } from '../../test/support/stub/stubTruth';
import type { Deployment, KillTarget } from './deployment';

export type KillPlan = 'engine' | 'ingester' | 'both' | 'both, and both again while recovering';

const TWICE = 'both, and both again while recovering';

export const KILL_PLANS: readonly KillPlan[] = ['engine', 'ingester', 'both', TWICE];

const STEP_MS = 40;
const REORG_DEPTH_MAX = 24;
/** Most steps of the chain without a new branch, so that a short run has reorgs with any seed. */
const STEPS_WITHOUT_BRANCH_MAX = 20;
/** Chances of each step: a new branch, and the return to an abandoned one. */
const REORG_CHANCE = 0.06;
const RETURN_CHANCE = 0.03;
const LEFT_BRANCHES_MAX = 4;

/** Moves the chain: usually one more block, sometimes another branch, or back to the previous branch. */
export class ChainLoad {
  reorgs = 0;
  private readonly leftBranches: StubBranch[] = [];
  private stepsWithoutBranch = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly chain: StubChain,
    private readonly random: Random,
    private readonly headMax: number,
    private readonly stepMs = STEP_MS,
  ) {}

  begin(): void {
    this.timer ??= setInterval(() => this.step(), this.stepMs);
  }

  pause(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  step(): void {
    const { chain, random } = this;
    const depthMax = Math.min(REORG_DEPTH_MAX, chain.head - chain.final - 1);
    const chance = random.next();
    this.stepsWithoutBranch += 1;
    if ((chance < REORG_CHANCE || this.stepsWithoutBranch > STEPS_WITHOUT_BRANCH_MAX) && depthMax > 0) {
      const depth = random.int(1, depthMax);
      this.leftBranches.push(chain.reorg(depth, random.int(depth, depth + 2)));
      this.reorgs += 1;
      this.stepsWithoutBranch = 0;
    } else if (chance < REORG_CHANCE + RETURN_CHANCE) {
      // Returns to an abandoned branch, if the parent of its first block is still canonical.
      const branch = this.leftBranches.pop();
      if (branch !== undefined && branch.length > 1 && this.isLonger(branch) && chain.restore(branch))
        this.reorgs += 1;
    } else if (chain.head < this.headMax) {
      chain.setHead(chain.head + 1);
    }
    if (this.leftBranches.length > LEFT_BRANCHES_MAX) this.leftBranches.shift();
  }

  private isLonger(branch: StubBranch): boolean {
    return (branch.at(-1)?.number ?? 0) >= this.chain.head;
  }
}

interface Recovery {
  /** Seconds from the last kill until the API is ready and shows the node's head at that time, or a later one. */
  readonly seconds: number;
}

/** The part of the answer of /readyz that is read here. `last_answer_seconds` is the time since the last answer. */
interface Ready {
  readonly ready: boolean;
  readonly checks: {
    readonly database: { readonly last_answer_seconds: number | null };
    readonly head: { readonly block_number: number | null; readonly block_hash: string | null };
  };
  readonly problems: readonly { readonly code: string; readonly message: string }[];
}

async function readReady(url: string): Promise<Ready | null> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
    return (await answer.json()) as Ready;
  } catch {
    return null;
  }
}

export class KillRun {
  readonly truth: StubTruth;
  kills = 0;
  private requests = 0;

  constructor(
    private readonly chain: StubChain,
    readonly deployment: Deployment,
    private readonly random: Random,
  ) {
    this.truth = new StubTruth(chain);
  }

  /** Carries out the plan; killed parts stay down. Resolves to the time of the last kill, ms of performance.now(). */
  async kill(plan: KillPlan): Promise<number> {
    if (plan !== TWICE) return this.killOnce(plan);
    await this.killOnce('both');
    // The random delay and the start run in parallel; the second kill follows when both have ended.
    const starting = this.deployment.start().catch(() => undefined);
    await delay(this.random.int(100, 2_500));
    await starting;
    return this.killOnce('both');
  }

  private async killOnce(target: KillTarget): Promise<number> {
    await this.deployment.kill(target);
    this.kills += 1;
    return performance.now();
  }

  /**
   * Starts the parts that are down and waits until the API reaches the chain's head. `killedAt` is the time of the last
   * kill, ms of performance.now().
   */
  async recover(killedAt: number): Promise<Recovery> {
    const head = this.chain.head;
    await this.untilShown(killedAt, (number) => number >= head);
    return { seconds: (performance.now() - killedAt) / 1000 };
  }

  /** Waits until the API shows exactly the chain's head, which must not move during this time. */
  async untilHead(): Promise<void> {
    const { hash } = this.chain.blocks[this.chain.head] ?? {};
    await this.untilShown(performance.now(), (_number, shownHash) => shownHash === hash);
  }

  /** Lists each wrong bar, and each wrong event from `fromBlock` on. The chain must not move during the
   * comparison. */
  async compare(fromBlock = 0): Promise<string[]> {
    const url = this.deployment.url();
    const wrongBars = await this.truth.findWrongBars(url);
    const activity = await this.truth.findWrongActivity(url, fromBlock);
    return activity === null ? wrongBars : [...wrongBars, activity];
  }

  /** Whether an answer comes from the database and not from a cache. */
  private async isDatabaseUp(): Promise<boolean> {
    // Each request names a new maker, so that no cache has the answer.
    this.requests += 1;
    const maker = `0x${this.requests.toString(16).padStart(40, '0')}`;
    try {
      const answer = await fetch(`${this.deployment.url()}/api/v1/activity?limit=1&maker=${maker}`);
      await answer.arrayBuffer();
      return answer.status === 200;
    } catch {
      return false;
    }
  }

  /** Waits until the API shows the awaited head, and the database has answered the API after `killedAt`. */
  private async untilShown(
    killedAt: number,
    isAwaitedHead: (number: number, hash: string) => boolean,
  ): Promise<void> {
    let lastReady: Ready | null = null;
    const isShown = async (): Promise<boolean> => {
      await this.deployment.start();
      const askedAt = performance.now();
      const ready = await readReady(this.deployment.url());
      lastReady = ready ?? lastReady;
      const { head, database } = ready?.checks ?? {};
      if (head?.block_number == null || !isAwaitedHead(head.block_number, head.block_hash ?? ''))
        return false;
      const silenceSeconds = database?.last_answer_seconds ?? Infinity;
      return silenceSeconds * 1_000 < askedAt - killedAt && (await this.isDatabaseUp());
    };
    const describeLast = (): string =>
      `${JSON.stringify(lastReady)}\n${this.deployment.output().split('\n').slice(-40).join('\n')}`;
    await eventually(isShown, (isNowShown) => isNowShown, describeLast);
  }
}
