/** A database and the settings of a program with two market chains, each with a stub node of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { askRows } from '../engine/askRows';
import { startStubChain, type StubChain } from '../stub/stubChain';
import { stubDescription } from '../stub/stubDescription';
import { createProgramHome, type ProgramHome } from './runningProgram';

export const [FIRST, SECOND] = [369, 8_453];
/** The first head of each chain. */
export const BLOCKS = { [FIRST]: 120, [SECOND]: 150 };
const NAMES = { [FIRST]: 'Stub chain', [SECOND]: 'Second Stub' };

export interface TwoChains {
  readonly nodes: ReadonlyMap<number, StubChain>;
  readonly home: ProgramHome;
  readonly settings: Readonly<Record<string, string>>;
  /** Name of the database of a chain. */
  nameOf(chainId: number): Promise<string>;
  /** Drops the databases, and closes the node of the first chain. */
  drop(): Promise<void>;
}

export async function createTwoChains(): Promise<TwoChains> {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-chains-'));
  const nodes = new Map<number, StubChain>();
  const settings: Record<string, string> = { CHAINS: `${FIRST},${SECOND}`, RPC_URL: '', CHAIN_CONFIG: '' };
  for (const chainId of [FIRST, SECOND]) {
    const blocks = BLOCKS[chainId]!;
    const node = await startStubChain({ blocks, logsPerBlock: 16, pairs: 4, seed: chainId, chainId });
    nodes.set(chainId, node);
    const file = join(folder, `${chainId}.json`);
    writeFileSync(file, JSON.stringify({ ...stubDescription(), chainId, name: NAMES[chainId]! }));
    settings[`RPC_URL_${chainId}`] = node.url;
    settings[`CHAIN_CONFIG_${chainId}`] = file;
  }
  const home = await createProgramHome();
  const nameOf = async (chainId: number): Promise<string> => {
    const [row] = await askRows<{ name: string }>(home.database, 'SELECT currentDatabase() AS name');
    return `${row!.name}_${chainId}`;
  };
  return {
    ...{ nodes, home, settings, nameOf },
    async drop() {
      for (const chainId of [FIRST, SECOND])
        await home.database.command('drop', `DROP DATABASE IF EXISTS ${await nameOf(chainId)} SYNC`);
      await home.drop();
      await nodes.get(FIRST)?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
