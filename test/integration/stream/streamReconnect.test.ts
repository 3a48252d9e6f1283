/**
 * Clients switch between two API processes while a seeded chain grows, forks, forks back and becomes final.
 * With reorgs applied, each client ends with exactly the canonical events of its filter.
 */
import { runsOf } from '../../support/run/runs';
import { addressOf, pairOf, TOKEN1, transactionOf, type MadeBlock, type MadeEvent } from './chainWriter';
import { SseClient } from './sseClient';
import { createStreamWorld, untilSeen, type StreamWorld, type Tail } from './streamServer';
import { until } from '../../support/eventually';
import { createRandom, type Random } from '../../support/createRandom';
import { NetEvents, type StreamData } from '../../support/server/eventFollower';

const SEEDS = [1, 2, 3, 4];
const STEPS = runsOf(200);

/** A client that applies events and reorgs like a real user of the stream, and remembers its last id. */
class Follower extends NetEvents {
  private client: SseClient | null = null;
  private lastId: string | null = '99-1048575';
  private read = 0;

  constructor(
    readonly query: string,
    readonly fits: (event: MadeEvent) => boolean,
  ) {
    super();
  }

  get isConnected(): boolean {
    return this.client !== null;
  }

  async connect(api: Tail): Promise<void> {
    this.client = await new SseClient(`${api.url}${this.query}`, this.lastId).connect();
    this.read = 0;
    if (this.client.status !== 200) this.faults.push(`status ${this.client.status} ${this.client.body}`);
  }

  disconnect(): void {
    this.drink();
    this.lastId = this.client?.lastId ?? this.lastId;
    this.client?.close();
    this.client = null;
  }

  /** Processes the messages received so far. */
  drink(): void {
    for (; this.client !== null && this.read < this.client.messages.length; this.read += 1) {
      const message = this.client.messages[this.read];
      if (message !== undefined) this.take(message.event, message.data as unknown as StreamData);
    }
  }
}

function randomEvents(random: Random): MadeEvent[] {
  const kinds = ['swap', 'sync', 'mint', 'burn'] as const;
  const events: MadeEvent[] = [];
  for (
    let logIndex = random.int(3), left = random.int(5);
    left > 0;
    left -= 1, logIndex += 1 + random.int(3)
  ) {
    events.push({
      kind: kinds[random.int(4)] ?? 'swap',
      logIndex,
      pool: 1 + random.int(3),
      maker: 7 + random.int(2),
    });
  }
  return events;
}

class Scenario {
  private readonly finals: MadeBlock[] = [];
  private readonly left: MadeBlock[][] = [];

  constructor(
    private readonly world: StreamWorld,
    private readonly apis: readonly Tail[],
    private readonly followers: readonly Follower[],
    private readonly random: Random,
  ) {}

  async step(): Promise<void> {
    const { random } = this;
    const { chain } = this.world;
    const choice = random.int(20);
    if (choice < 8) await chain.mine(randomEvents(random));
    else if (choice < 11) await this.fork();
    else if (choice < 13) await this.forkBack();
    else if (choice < 14) await this.promote();
    else if (choice < 18) await this.comeOrGo();
    else await untilSeen(this.apis[random.int(2)]!.tail, chain);
  }

  private async fork(): Promise<void> {
    const { chain } = this.world;
    const { random } = this;
    const depth = 1 + random.int(Math.min(5, chain.head.length));
    if (chain.head.length < depth) return;
    this.left.push(chain.head);
    const length = random.int(depth + 2);
    const blocks = Array.from({ length }, () => randomEvents(random));
    await chain.reorg(chain.tip.number - depth, blocks);
  }

  /** Makes an earlier branch canonical again, if its parent is still the last final block. */
  private async forkBack(): Promise<void> {
    const { chain } = this.world;
    const branch = this.left[this.random.int(this.left.length)];
    if (branch === undefined) return;
    const above = branch.filter((block) => block.number > chain.cursor.number);
    if (above[0]?.parentHash !== chain.cursor.hash) return;
    this.left.push(chain.head);
    await chain.flip(above);
  }

  private async promote(): Promise<void> {
    const { chain } = this.world;
    const count = this.random.int(Math.max(1, chain.head.length - 4));
    this.finals.push(...chain.head.slice(0, count));
    await chain.promote(chain.cursor.number + count);
  }

  private async comeOrGo(): Promise<void> {
    const follower = this.followers[this.random.int(this.followers.length)];
    const api = this.apis[this.random.int(this.apis.length)];
    if (follower === undefined || api === undefined) return;
    if (follower.isConnected) follower.disconnect();
    else await follower.connect(api);
  }

  /** Expected final state of a follower: event ids, and the transactions that distinguish branches. */
  expected(follower: Follower): string[] {
    const canonical = [...this.finals, ...this.world.chain.head];
    return canonical.flatMap((block) =>
      block.events
        .filter(follower.fits)
        .map((event) => `${block.number}-${event.logIndex} ${transactionOf(block, event)}`),
    );
  }
}

async function run(seed: number): Promise<void> {
  const world = await createStreamWorld();
  try {
    await world.chain.start();
    await world.chain.mine();
    const apis = [await world.serve(), await world.serve()];
    const followers = [
      new Follower('', () => true),
      new Follower(`?pair=${pairOf(2)}`, (event) => event.pool === 2),
      new Follower(`?event_type=swap,burn`, (event) => event.kind === 'swap' || event.kind === 'burn'),
      new Follower(`?maker=${addressOf(8)}&token=${TOKEN1}`, (event) => event.maker === 8),
    ];
    const random = createRandom(seed);
    const scenario = new Scenario(world, apis, followers, random);
    for (const { tail } of apis) await untilSeen(tail, world.chain);
    for (let i = 0; i < STEPS; i += 1) await scenario.step();
    for (const follower of followers) await expectCanonicalEvents(scenario, follower, apis[random.int(2)]!);
  } finally {
    await world.drop();
  }
}

async function expectCanonicalEvents(scenario: Scenario, follower: Follower, api: Tail): Promise<void> {
  if (!follower.isConnected) await follower.connect(api);
  const expected = scenario.expected(follower);
  const held = (): string[] => {
    follower.drink();
    return follower.net();
  };
  const isDone = (): boolean => JSON.stringify(held()) === JSON.stringify(expected);
  await until(() => isDone() || follower.faults.length > 0);
  expect({ query: follower.query, held: held(), faults: follower.faults }).toEqual({
    query: follower.query,
    held: expected,
    faults: [],
  });
  follower.disconnect();
}

test.each(SEEDS)('with seed %i every client ends with the canonical events of its filter', (seed) =>
  run(seed),
);
