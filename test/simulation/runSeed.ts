/**
 * Runs one seed: the real ingester (endpoint pool, block source, follower, session, store protocol) over
 * simulated nodes and a persistent store. The process starts and dies repeatedly while the chain grows and
 * forks. Then all faults end, until the ingester has caught up.
 */
import type { Database } from '../../src/clickhouse/client/database';
import type { ProofLevel } from '../../src/domain/block';
import { createBlockSource } from '../../src/node/blocks/blockSource';
import { BloomBuilder } from '../../src/node/blocks/bloom';
import { BlockProver } from '../../src/node/proof/blockProof';
import { EndpointPool } from '../../src/node/rpc/endpointPool';
import { AppError, errorText } from '../../src/errors';
import { createClickHouseStore } from '../../src/ingest/store/clickhouseStore';
import { runIngest } from '../../src/ingest/session/runIngest';
import { newIngestStatus, type IngestStatus } from '../../src/ingest/session/status';
import type { StoredFlip, Store } from '../../src/ingest/store/store';
import { createLog } from '../../src/log';
import { crashError, FaultPlan } from './faultPlan';
import { SimTransport } from './fleet/simTransport';
import { SimWorld, type Quirk } from './fleet/simWorld';
import { drawNature, drawQuirks, NO_QUIRKS, type NodeNature } from './fleet/nodeTraits';
import { FastRandom, type Random } from '../support/random';
import type { SeedPlan } from './seedPlan';
import { createSeal, type Seal } from './chain/simSeal';
import { SIM_CHAIN_ID, SimChain } from './chain/simChain';
import { SIM_DESCRIPTION } from './chain/simDescription';
import { createWilderness } from './chain/simWild';
import { readTip, type StoredTip } from './compare/storedContent';
import { Trace } from './trace';
import { VirtualClock } from './virtualClock';

/** Storage of the rows: the model or the real engine. */
export interface Backend {
  /** Opens a connection for one run of the process. */
  connect(faults: FaultPlan, trace: (event: string) => void, clock: VirtualClock): Database;
  /** False while a statement still runs that its sender has given up. */
  isQuiet(): boolean;
  /** A connection that never fails. */
  readonly steady: Database;
}

export interface SeedRun {
  readonly chain: SimChain;
  /** The stored head at the end of the run; null if the store is empty. */
  readonly tip: StoredTip | null;
  /** The reason why the ingester did not reach the chain's head; null if it did. */
  readonly stuck: string | null;
  readonly traceHash: string;
  readonly lives: number;
  readonly quirksSeen: ReadonlyMap<Quirk, number>;
  /** Virtual time in ms. */
  readonly tookMs: number;
}

interface RunHooks {
  /** Called before each run of the process, with the level at which it proves blocks. */
  readonly onLife?: (level: ProofLevel) => void;
  /** Called after each death of the process. */
  readonly afterLife?: (chain: SimChain, clock: VirtualClock) => Promise<void>;
  /** Called after each change of the head that is known to be stored. */
  readonly onFlip?: (flip: StoredFlip) => void;
}

const log = createLog('silent', false);
const START_MS = 1_700_000_000_000;
const CATCH_UP_MAX_MS = 3 * 3_600_000;
const LOOK_EVERY_MS = 500;
/** Virtual time in ms between the end of a process and the start of the next one. */
const DOWN_MS = 50;
/** Number of blocks that the last run of the process reads at least. */
const BLOCKS_AFTER_RESTART = 12;
/** Number of runs of the process that a crash or a time limit may end. Later runs are not ended. */
const LIVES_MAX = 8;

/** A separate random generator for each purpose of the seed. */
const randomFor = (seed: number, purpose: number): Random =>
  new FastRandom(Math.imul(seed, 2_246_822_519) ^ (purpose * 374_761_393));

export async function runSeed(plan: SeedPlan, backend: Backend, hooks: RunHooks = {}): Promise<SeedRun> {
  // Compiles the WebAssembly before the simulation, because the virtual clock does not wait for the compilation.
  await BloomBuilder.create();
  await BlockProver.create();
  return new SeedRunner(plan, backend, hooks, plan.sealed ? await createSeal(plan.deposits) : null).run();
}

/**
 * In seeds that are a multiple of this number, the last run of the process continues when the chain stops
 * growing.
 */
const SURVIVES_EVERY = 2;
const ALTERNATIONS_MAX = 6;
const ALTERNATION_MS_MAX = 400;

const keepingLogs = (nature: NodeNature): NodeNature => ({
  ...nature,
  quirks: { ...nature.quirks, losesLogs: false },
});

type LifeEnd = 'died' | 'caught up' | { readonly stuck: string };

class SeedRunner {
  private readonly clock: VirtualClock;
  private readonly chain: SimChain;
  private readonly world: SimWorld;
  private readonly trace: Trace;
  private readonly natures: NodeNature[];
  private readonly lifeRandom: Random;
  private transports: SimTransport[] = [];
  /** Whether the chain has stopped growing, and the nodes have no faults any more. */
  private isCalm = false;
  private lives = 0;
  /** The error that stopped the writer; null if it runs. */
  private stopError: string | null = null;

  constructor(
    private readonly plan: SeedPlan,
    private readonly backend: Backend,
    private readonly hooks: RunHooks,
    seal: Seal | null,
  ) {
    const { seed } = plan;
    this.clock = new VirtualClock(START_MS, randomFor(seed, 1));
    this.trace = new Trace(this.clock.now);
    const wilderness = createWilderness(randomFor(seed, 2), plan.wild, {
      blockRandom: plan.blockLogs ? randomFor(seed, 7) : null,
      rateRandom: plan.growingRates ? randomFor(seed, 9) : null,
      stableRandom: plan.stablePool ? randomFor(seed, 10) : null,
    });
    this.chain = new SimChain(seed, wilderness, seal);
    this.chain.mine(plan.firstBlocks);
    this.world = new SimWorld(this.chain, this.clock, plan.depth);
    this.lifeRandom = randomFor(seed, 3);
    const healthRandom = randomFor(seed, 4);
    const oddRandom = randomFor(seed, 6);
    const natureRandom = randomFor(seed, 8);
    this.natures = Array.from({ length: plan.nodes }, (_, index) => {
      // Only one of several nodes may serve another chain, and never the first node.
      const chainId = index > 0 && healthRandom.chance(0.1) ? SIM_CHAIN_ID + 1 : SIM_CHAIN_ID;
      return drawNature(healthRandom, oddRandom, chainId, plan.quirks ? drawQuirks(natureRandom) : NO_QUIRKS);
    });
    // One node must have all logs.
    const natureWithAllLogs = natureRandom.pick(
      this.natures.filter(({ chainId }) => chainId === SIM_CHAIN_ID),
    );
    this.natures[this.natures.indexOf(natureWithAllLogs)] = keepingLogs(natureWithAllLogs);
  }

  private get lastLifeContinues(): boolean {
    return this.plan.seed % SURVIVES_EVERY === 0;
  }

  async run(): Promise<SeedRun> {
    const stuck = await this.clock.run(this.live());
    const tip = await readTip(this.backend.steady);
    const tookMs = this.clock.now() - START_MS;
    const { chain, lives } = this;
    const { quirksSeen } = this.world;
    return { chain, tip, stuck, traceHash: this.trace.hash(), lives, quirksSeen, tookMs };
  }

  /** The reason why the ingester did not catch up; null if it did. */
  private async live(): Promise<string | null> {
    const mining = this.mine();
    if (this.plan.afterwards) await mining;
    let hasCaughtUp = false;
    while (!this.isCalm && this.stopError === null) hasCaughtUp = (await this.runLife()) === 'caught up';
    await mining;
    if (this.stopError !== null) return this.stopError;
    if (!hasCaughtUp) {
      const end = await this.runLife();
      if (end !== 'caught up') return end === 'died' ? null : end.stuck;
    }
    // One more restart, and blocks that show whether the process has restored the states of pools. Earlier restarts
    // often come before a pool has a final state, or shortly before the last block.
    this.chain.mine(BLOCKS_AFTER_RESTART);
    this.showHead();
    const end = await this.runLife();
    return end === 'caught up' || end === 'died' ? null : end.stuck;
  }

  /** One run of the process from start to death. Without faults, it ends when the head is reached. */
  private async runLife(): Promise<LifeEnd> {
    const { plan, clock } = this;
    this.lives += 1;
    // A process needs time to start.
    await clock.sleep(DOWN_MS);
    this.trace.add(`life ${this.lives} ${this.isCalm}`);
    const life = new AbortController();
    const faults = new FaultPlan(this.lifeRandom, () => life.abort(crashError()));
    if (!this.isCalm && this.lives <= LIVES_MAX) faults.arm(plan.crashChance, plan.glitchChance);
    const database = this.backend.connect(faults, (event) => this.trace.add(event), clock);
    const status = newIngestStatus();
    const running = this.ingest(database, status, life.signal);
    let end: LifeEnd = 'died';
    if (!this.isCalm) await this.awaitEnd(faults, running);
    // In some seeds, a process that is still running must reach the last head without a restart.
    else end = await this.awaitHead(status, running);
    if (end === 'died' && this.isCalm && faults.death === null && this.lastLifeContinues) {
      faults.arm(0, 0);
      end = await this.awaitHead(status, running);
      if (end !== 'caught up') this.stopError ??= end === 'died' ? null : end.stuck;
    }
    if (!life.signal.aborted) life.abort(crashError());
    await running;
    await this.hooks.afterLife?.(this.chain, clock);
    return end;
  }

  private async ingest(database: Database, status: IngestStatus, signal: AbortSignal): Promise<void> {
    const { plan, clock, world } = this;
    // Every second process proves less, so its nodes may not lose logs: only a proof would show it.
    const strongestMode = plan.deposits ? 'receipts' : 'full';
    const mode = plan.sealed && this.lives % 2 === 1 ? strongestMode : 'bloom';
    this.hooks.onLife?.(mode);
    this.transports = this.natures.map(
      (nature, index) =>
        new SimTransport({
          index,
          world,
          nature: mode === 'bloom' ? keepingLogs(nature) : nature,
          random: randomFor(plan.seed, 100 * this.lives + 10 + index),
          quirkRandom: randomFor(plan.seed, 100 * this.lives + 60 + index),
          health: plan.health,
          trace: (event) => this.trace.add(event),
          pushes: (plan.seed + index) % 2 === 0,
          honest: index === 0,
        }),
    );
    if (this.isCalm) for (const transport of this.transports) transport.calmDown();
    const pool = new EndpointPool({ transports: this.transports, chainId: SIM_CHAIN_ID, log, clock });
    const source = createBlockSource({ pool, log, clock, proof: { mode, trusted: null } });
    try {
      await runIngest(
        {
          store: this.storeOn(database),
          rpc: pool,
          source,
          chain: SIM_DESCRIPTION,
          startBlock: { kind: 'absolute', block: plan.startBlock },
          finality: plan.finality,
          status,
          log,
          clock,
          limits: plan.limits,
        },
        signal,
      );
    } catch (error) {
      if (!signal.aborted) this.stopError = `the writer stopped: ${describe(error)}`;
    } finally {
      await pool.close();
    }
  }

  private storeOn(database: Database): Store {
    const store = createClickHouseStore(database, SIM_CHAIN_ID);
    return {
      ...store,
      writeHead: (flip) => store.writeHead(flip).then(() => this.hooks.onFlip?.(flip)),
    };
  }

  /** Waits until the process ends by itself, its time is over, or the chain has stopped growing. */
  private async awaitEnd(faults: FaultPlan, running: Promise<void>): Promise<null> {
    const { lifeMs } = this.plan;
    const endsAt =
      lifeMs === 0 || this.lives > LIVES_MAX ? Infinity : this.clock.now() + this.lifeRandom.int(1, lifeMs);
    let hasEnded = false;
    const end = running.then(() => {
      hasEnded = true;
    });
    while (!hasEnded && !this.isCalm) {
      const waitMs = Math.min(LOOK_EVERY_MS, endsAt - this.clock.now());
      if (waitMs <= 0) {
        faults.kill();
        await end;
        break;
      }
      await Promise.race([end, this.clock.sleep(waitMs)]);
    }
    return null;
  }

  private async awaitHead(status: IngestStatus, running: Promise<void>): Promise<LifeEnd> {
    const endsAt = this.clock.now() + CATCH_UP_MAX_MS;
    let hasEnded = false;
    void running.then(() => {
      hasEnded = true;
    });
    while (!hasEnded && this.clock.now() < endsAt) {
      const isAtHead = status.phase === 'follow' && status.indexed === this.chain.head.number;
      if (isAtHead && this.backend.isQuiet() && (await this.isHeadStored())) return 'caught up';
      await this.clock.sleep(LOOK_EVERY_MS);
    }
    const { number } = this.chain.head;
    const lastStatus = `${status.phase} at ${status.indexed}, ${status.problem}`;
    return { stuck: this.stopError ?? `the ingester did not reach block ${number}: ${lastStatus}` };
  }

  private async isHeadStored(): Promise<boolean> {
    const tip = await this.clock.hold(readTip(this.backend.steady));
    return tip?.hash === this.chain.head.hash;
  }

  /**
   * At the end two branches alternate faster than the ingester can read either. Then the chain stays on one
   * of them.
   */
  private async alternateBranches(random: Random): Promise<void> {
    const { chain, world, clock, plan } = this;
    const depthMax = chain.head.number - Math.max(world.finalNumber, plan.startBlock);
    if (depthMax <= 0) return;
    const depth = Math.min(depthMax, random.int(1, 4));
    let otherTip = chain.reorg(depth, depth);
    for (let turn = random.int(1, ALTERNATIONS_MAX); turn > 0; turn -= 1) {
      this.showHead();
      await clock.sleep(random.int(1, ALTERNATION_MS_MAX));
      const leftTip = chain.head.hash;
      chain.switchTo(otherTip);
      otherTip = leftTip;
    }
    this.showHead();
  }

  private showHead(): void {
    this.world.noteHead();
    this.trace.add(`head ${this.chain.head.number} ${this.chain.head.hash}`);
    for (const transport of this.transports) transport.announce();
  }

  /** Moves the simulated chain: it grows, forks, and returns to abandoned branches. */
  private async mine(): Promise<void> {
    const { plan, chain, world, clock } = this;
    const random = randomFor(plan.seed, 5);
    const leftBranches: { hash: `0x${string}`; fork: number }[] = [];
    for (let move = 0; move < plan.moves; move += 1) {
      await clock.sleep(random.int(1, plan.gapMs));
      const depthMax = chain.head.number - Math.max(world.finalNumber, plan.startBlock);
      const lastBranch = leftBranches.at(-1);
      if (random.chance(plan.reorgChance) && depthMax > 0) {
        const depth = Math.min(depthMax, random.pick([1, 1, 2, 3, random.int(1, 64)]));
        const fork = chain.head.number - depth;
        leftBranches.push({ hash: chain.reorg(depth, random.int(1, depth + 3)), fork });
      } else if (lastBranch !== undefined && random.chance(0.5) && lastBranch.fork >= world.finalNumber) {
        chain.switchTo(lastBranch.hash);
        leftBranches.pop();
      } else {
        leftBranches.length = 0;
        chain.mine(random.pick(plan.strides));
      }
      this.showHead();
    }
    if (this.lastLifeContinues) await this.alternateBranches(random);
    this.isCalm = true;
    for (const transport of this.transports) transport.calmDown();
  }
}

function describe(error: unknown): string {
  return error instanceof AppError ? `${error.code}: ${error.message}` : (errorText(error) ?? String(error));
}
