/** Checks that a long read yields to other work. The simulations check the decoded rows. */
import { systemClock } from '../../../../src/chain/rpc/clock';
import type { ChainBlock } from '../../../../src/domain/block';
import { ZERO_HASH, type Hex } from '../../../../src/domain/hex';
import { BlockReader } from '../../../../src/ingest/decode/blockReader';
import { PoolDiscovery } from '../../../../src/ingest/pools/discoverPools';
import { VaultDiscovery } from '../../../../src/ingest/pools/discoverVaultPools';
import { createDecodeContext } from '../../../../src/ingest/session/runIngest';
import { newIngestStatus } from '../../../../src/ingest/session/status';
import type { Store } from '../../../../src/ingest/store/store';
import { createLog } from '../../../../src/log';
import { SIM_DESCRIPTION } from '../../../simulation/chain/simDescription';

const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;

const emptyBlock = (number: number): ChainBlock => ({
  number,
  hash: hashOf(number),
  parentHash: hashOf(number - 1),
  timestamp: 1_700_000_000 + 10 * number,
  baseFeePerGas: null,
  transactionCount: 0,
  transactions: [],
  logs: [],
});

test('reading blocks yields to the event loop between slow blocks', async () => {
  const log = createLog('silent', false);
  const decode = createDecodeContext({ chain: SIM_DESCRIPTION, status: newIngestStatus(), log });
  const never = (): never => {
    throw new Error('unexpected node call');
  };
  const rpc = { batchOutcomes: never };
  const { baseIsToken0, eventTopics, creationTopics } = decode;
  let time = 0;
  let turns = 0;
  const reader = new BlockReader(
    {
      store: {} as Store,
      rpc,
      decode,
      prices: { anchors: [], wrappedNative: null },
      discovery: new PoolDiscovery({ rpc, dexes: [], eventTopics, creationTopics, baseIsToken0, log }),
      vaultDiscovery: new VaultDiscovery({ rpc, dexes: [], baseIsToken0, quoteRank: () => 0, log }),
      // Decoding each block takes 5 ms.
      clock: {
        ...systemClock(),
        now: () => (time += 5),
        turn: async () => void (turns += 1),
      },
    },
    1,
  );
  const blocks = Array.from({ length: 20 }, (_, index) => emptyBlock(index + 1));
  const taken: number[] = [];
  await reader.read(
    blocks,
    { number: 0, hash: ZERO_HASH },
    false,
    new AbortController().signal,
    ({ ref }) => void taken.push(ref.number),
  );
  expect(taken).toEqual(blocks.map(({ number }) => number));
  expect(turns).toBe(2 * blocks.length);
});
