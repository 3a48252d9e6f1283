/**
 * The setup of the client tests: two real chains with contracts from npm packages, and the whole program over
 * both. The first chain has a few verified contracts, or more than 150 if a test asks for them. One address
 * has different contracts on the two chains, to detect clients that query the wrong chain.
 */

import { AbiCoder, Interface } from 'ethers';

import { startAnvil, type Anvil } from '../../../src/dev/node/anvil';
import { field, openDevRpc, type DevRpc } from '../../../src/dev/node/devRpc';
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import type { Hex } from '../../../src/domain/hex';
import type { AbiParameter } from '../../../src/domain/verifiedContract';
import { createLog } from '../../../src/log';
import { createVerifiedStore } from '../../../src/contracts/storeVerified';
import { hashCode } from '../../../src/contracts/verifiedRecord';
import { askRows } from '../../support/engine/askRows';
import { eventually } from '../../support/eventually';
import {
  createProgramHome,
  type ProgramHome,
  type RunningProgram,
} from '../../support/server/runningProgram';
import {
  compileSet,
  compileWorld,
  deploy,
  toRecord,
  type WorldContract,
} from '../../support/worlds/verifiedWorld';
import { listSourceSets, TRICKY, type SourceSet } from '../../support/worlds/worldSources';
import { installClients } from './installClients';

const OWNER: Hex = `0x${'ab'.repeat(20)}`;

export interface Placed {
  readonly chainId: number;
  readonly address: Hex;
  readonly contract: WorldContract;
  readonly constructorArguments: Hex;
}

export interface ClientWorld {
  /** The folder where the clients are installed. */
  readonly clients: string;
  /** The address of the program's API: `http://127.0.0.1:port`. */
  readonly url: string;
  readonly nodes: ReadonlyMap<number, { readonly url: string; readonly rpc: DevRpc }>;
  readonly program: RunningProgram;
  /** Two contracts at the same address: a contract of many files on one chain, and a contract of one file on
   * the other chain. */
  readonly twoFaced: { readonly 369: Placed; readonly 943: Placed };
  /** A contract on chain 369 with one source file and constructor arguments. */
  readonly vault: Placed;
  /** The source file of `vault` compiled by the IR pipeline. Only the compiler settings differ from `vault`. */
  readonly vaultByIr: Placed;
  /** A contract on chain 369 that is deployed but not verified. */
  readonly unverified: Placed;
  /** All verified contracts of chain 369. */
  readonly verified: readonly Placed[];
  close(): Promise<void>;
}

const log = createLog('silent', false);
/** Clients must work with a realistic number of contracts. */
const VERIFIED_MIN = 150;
const GAS = '0x7a1200';

const isNamed = (name: string) => (contract: WorldContract) => contract.name === name;

interface Chain {
  readonly chainId: number;
  readonly node: Anvil;
  readonly rpc: DevRpc;
}

/**
 * Installs the clients first, which may take a minute. With `size` `large`, more than 150 verified contracts exist
 * beside the named ones. `settings` are further settings of the program.
 */
export async function openClientWorld(
  size: 'small' | 'large',
  settings: Readonly<Record<string, string>> = {},
): Promise<ClientWorld> {
  const clients = await installClients();
  const chains = await Promise.all([369, 943].map(startChain));
  try {
    return await deployWorld(clients, chains, size, settings);
  } catch (error) {
    await closeChains(chains);
    throw error;
  }
}

async function compileTokens(): Promise<WorldContract[]> {
  const isOfTokens = ({ input }: SourceSet): boolean => 'contracts/tokens/Pulse_Token_0.sol' in input.sources;
  return compileSet(listSourceSets().find(isOfTokens)!);
}

async function startChain(chainId: number): Promise<Chain> {
  const node = await startAnvil({ log, chainId, timestamp: 1_700_000_000, accounts: 3 });
  return { chainId, node, rpc: openDevRpc(node.url) };
}

async function closeChains(chains: readonly Chain[]): Promise<void> {
  for (const { node, rpc } of chains) {
    await rpc.close();
    await node.stop();
  }
}

async function deployWorld(
  clients: string,
  chains: readonly Chain[],
  size: 'small' | 'large',
  settings: Readonly<Record<string, string>>,
): Promise<ClientWorld> {
  const [first, second] = chains;
  const world = await (size === 'large' ? compileWorld() : compileTokens());
  const tricky = await compileSet(TRICKY);
  const place = async (
    chain: Chain | undefined,
    contract: WorldContract,
    values: unknown[],
  ): Promise<Placed> => {
    const { chainId, rpc } = chain!;
    return { chainId, contract, ...(await deploy(rpc, contract, values)) };
  };
  const twoFaced = {
    369: await place(first, world.find(isNamed('Pulse_Token_0'))!, [OWNER]),
    943: await place(second, tricky.find(isNamed('Vault_Maker'))!, []),
  };
  await makeVaults(twoFaced[943].address, second!.rpc);
  const vault = await place(first, tricky.find(isNamed('Immutable_Vault'))!, [OWNER, 12_345, 'the label']);
  const byIr = await compileSet({
    ...TRICKY,
    input: { ...TRICKY.input, settings: { ...TRICKY.input.settings, viaIR: true } },
  });
  const vaultByIr = await place(first, byIr.find(isNamed('Immutable_Vault'))!, [OWNER, 54_321, 'by IR']);
  const unverified = await place(first, world.find(isNamed('Pulse_Token_3'))!, [OWNER]);
  const others = world.filter((contract) => contract !== unverified.contract);
  const many = size === 'large' ? await placeAll(first!.rpc, 369, others) : [];
  const home = await createProgramHome();
  const program = await home.start([first!.node.url], {
    RPC_URL_943: second!.node.url,
    FINALITY_DEPTH: '4',
    ...settings,
  });
  const verified = [twoFaced[369], vault, vaultByIr, ...many];
  try {
    await storeAll(
      home,
      [...verified, twoFaced[943]],
      new Map(chains.map(({ chainId, rpc }) => [chainId, rpc])),
    );
    await untilIndexed(program.url, chains);
  } catch (error) {
    await dropHome(home, program);
    throw error;
  }
  return {
    clients,
    url: program.url,
    nodes: new Map(chains.map(({ chainId, node, rpc }) => [chainId, { url: node.url, rpc }])),
    program,
    twoFaced,
    vault,
    vaultByIr,
    unverified,
    verified,
    async close() {
      await dropHome(home, program);
      await closeChains(chains);
    },
  };
}

async function dropHome(home: ProgramHome, program: RunningProgram): Promise<void> {
  await program.stop();
  const [row] = await askRows<{ name: string }>(home.database, 'SELECT currentDatabase() AS name');
  await home.database.command('drop', `DROP DATABASE IF EXISTS ${row!.name}_943 SYNC`);
  await home.drop();
}

/** Makes three logs on the second chain. */
async function makeVaults(maker: Hex, rpc: DevRpc): Promise<void> {
  const [from] = (await rpc.call('eth_accounts')) as Hex[];
  const abi = new Interface(['function make(uint256)']);
  for (let cap = 1; cap <= 3; cap += 1) {
    const data = abi.encodeFunctionData('make', [cap]);
    await rpc.call('eth_sendTransaction', [{ from, to: maker, data, gas: GAS }]);
    await rpc.call('evm_mine');
  }
}

/**
 * Deploys the contracts that can be deployed. Some constructors need more than plain values, and some code
 * exceeds the chain's size limit.
 */
async function placeAll(
  rpc: DevRpc,
  chainId: number,
  contracts: readonly WorldContract[],
): Promise<Placed[]> {
  const [from] = (await rpc.call('eth_accounts')) as Hex[];
  const sent: { contract: WorldContract; constructorArguments: Hex; transaction: unknown }[] = [];
  for (const contract of contracts) {
    const inputs = contract.abi.find((entry) => entry.type === 'constructor')?.inputs ?? [];
    if (contract.creation.includes('__$')) continue;
    const constructorArguments = AbiCoder.defaultAbiCoder().encode(
      inputs.map((each) => each.type),
      inputs.map(plainValue),
    ) as Hex;
    const data = contract.creation + constructorArguments.slice(2);
    const transaction = await rpc.call('eth_sendTransaction', [{ from, data, gas: GAS }]);
    sent.push({ contract, constructorArguments, transaction });
  }
  for (let blocks = 0; Number(field(await rpc.call('txpool_status'), 'pending')) > 0; blocks += 1) {
    if (blocks > 100) throw new Error('the deployments are not mined');
    await rpc.call('evm_mine');
  }
  const placed: Placed[] = [];
  for (const { contract, constructorArguments, transaction } of sent) {
    const receipt = await rpc.call('eth_getTransactionReceipt', [transaction]);
    if (field(receipt, 'status') !== '0x1') continue;
    const address = field(receipt, 'contractAddress') as Hex;
    placed.push({ chainId, address, contract, constructorArguments });
  }
  if (placed.length < VERIFIED_MIN) throw new Error(`only ${placed.length} contracts could be deployed`);
  return placed;
}

function plainValue({ type }: AbiParameter): unknown {
  if (type.endsWith(']')) return [];
  if (type === 'address') return OWNER;
  if (type === 'string') return 'plain';
  if (type === 'bool') return true;
  if (type === 'bytes') return '0x';
  return type.startsWith('bytes') ? `0x${'00'.repeat(Number(type.slice(5)))}` : 1;
}

/** Stores verified contracts like an import: with the hash of the deployed code. */
async function storeAll(
  home: ProgramHome,
  placed: readonly Placed[],
  nodes: ReadonlyMap<number, DevRpc>,
): Promise<void> {
  const store = createVerifiedStore(home.database, createQueryRunner(home.database));
  const records = [];
  for (const { chainId, address, contract, constructorArguments } of placed) {
    const code = (await nodes.get(chainId)!.call('eth_getCode', [address, 'latest'])) as Hex;
    const record = toRecord(contract, chainId, address);
    const contractFacts = { ...record.contract, constructorArguments };
    records.push({ ...record, contract: contractFacts, codeHash: hashCode(code) });
  }
  await store.store(records);
}

async function untilIndexed(url: string, chains: readonly Chain[]): Promise<void> {
  for (const { chainId, rpc } of chains) {
    const head = String(Number(await rpc.call('eth_blockNumber')));
    const read = async (): Promise<string | null> =>
      (await fetch(`${url}/api/v1/logs?chainId=${chainId}&limit=1`)).headers.get('x-indexed-block');
    await eventually(read, (block) => block === head);
  }
}
