// Tuned for backfill: a log range that the node accepts, no call cache, and two events in the ABI. The node has many
// URLs, because Ponder starts with 20 requests per second for each URL.
import { createConfig, factory } from 'ponder';
import { parseAbiItem } from 'viem';

import { PAIR_ABI } from './src/pairAbi';

const env = (name: string): string => process.env[name] ?? '';
const rpc = Array.from({ length: 16 }, (_, index) => `${env('PEER_RPC')}/${index}`);

export default createConfig({
  database:
    env('PEER_POSTGRES') === ''
      ? { kind: 'pglite', directory: env('PEER_FOLDER') }
      : { kind: 'postgres', connectionString: env('PEER_POSTGRES') },
  chains: { stub: { id: 369, rpc, ethGetLogsBlockRange: 1_000, disableCache: true } },
  contracts: {
    Pair: {
      chain: 'stub',
      abi: PAIR_ABI,
      address: factory({
        address: env('PEER_FACTORY') as `0x${string}`,
        event: parseAbiItem(
          'event PairCreated(address indexed token0, address indexed token1, address pair, uint256)',
        ),
        parameter: 'pair',
      }),
      startBlock: 0,
      endBlock: Number(env('PEER_TO')),
    },
  },
});
