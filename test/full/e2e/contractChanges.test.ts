/**
 * Facts about contracts that change without a log, on two real chains: delegated code (EIP-7702), proxies without the
 * usual slots and events, Safes, and code that is replaced at one address. Some changes happen before the program starts,
 * others while it follows the chain.
 */
import { join } from 'node:path';

import { getCreate2Address, Interface, keccak256, Wallet, type HDNodeWallet } from 'ethers';

import { startAnvil, type Anvil } from '../../../src/dev/node/anvil';
import { field, openDevRpc, type DevRpc } from '../../../src/dev/node/devRpc';
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { createLog } from '../../../src/log';
import { createVerifiedStore } from '../../../src/contracts/storeVerified';
import type { Json } from '../../support/server/apiServer';
import { askRows } from '../../support/engine/askRows';
import { eventually } from '../../support/eventually';
import { CHANGING_SOURCES } from '../../support/node/changingContracts';
import { PROXY_SOURCES } from '../../support/node/proxyContracts';
import {
  createProgramHome,
  type ProgramHome,
  type RunningProgram,
} from '../../support/server/runningProgram';
import { compileSet, deploy, toRecord, type WorldContract } from '../../support/worlds/verifiedWorld';
import { installClients } from '../clients/installClients';
import { readArtifact } from '../clients/readArtifact';

const ABI = new Interface([
  'function store(uint256)',
  'function kill()',
  'function make(bytes)',
  'function put(bytes4,address)',
  'function changeMasterCopy(address)',
  'function setup(address[],uint256,address,bytes,address,address,uint256,address)',
  'function createProxyWithNonce(address,bytes,uint256) returns (address)',
  'function execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)',
  'function migrate()',
]);
const SAFE = 'node_modules/@safe-global/safe-contracts/build/artifacts/contracts';
const log = createLog('silent', false);
let chains: { node: Anvil; rpc: DevRpc }[];
let home: ProgramHome;
let program: RunningProgram;
let contracts: Map<string, WorldContract>;
let accounts: Hex[];
let v1: Hex;
let v2: Hex;
let beacon: Hex;
let forge: Hex;
let morph: Hex;
let safe: Record<'singleton' | 'other' | 'factory' | 'migration' | 'old', Hex>;
let owner: HDNodeWallet;
let nonce = 0;
let quiet: Record<'safe' | 'packed' | 'beacon user' | 'diamond' | 'clone', Hex>;

const main = (): DevRpc => chains[0]!.rpc;
const second = (): DevRpc => chains[1]!.rpc;
const named = (name: string): WorldContract => contracts.get(name)!;
const call = (name: string, ...values: unknown[]): string => ABI.encodeFunctionData(name, values);
const storeCall = (value: number): string => call('store', value);

async function mine(rpc: DevRpc, hash: unknown): Promise<void> {
  await rpc.call('evm_mine');
  expect(field(await rpc.call('eth_getTransactionReceipt', [hash]), 'status')).toBe('0x1');
}

async function send(rpc: DevRpc, to: Hex | null, data: string): Promise<Hex> {
  const tx = { from: accounts[0], ...(to === null ? {} : { to }), data, gas: '0x7a1200' };
  const hash = await rpc.call('eth_sendTransaction', [tx]);
  await mine(rpc, hash);
  return field(await rpc.call('eth_getTransactionReceipt', [hash]), 'contractAddress') as Hex;
}

/** Delegates the code of the owner's account in a transaction of type 4; the zero address withdraws it. */
async function delegate(target: Hex): Promise<void> {
  const authorization = owner.authorizeSync({ address: target, nonce: nonce + 1, chainId: 369 });
  const tx = {
    type: 4,
    chainId: 369,
    nonce,
    to: accounts[1]!,
    gasLimit: 200_000,
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 1n,
    authorizationList: [authorization],
  };
  nonce += 2;
  await mine(main(), await main().call('eth_sendRawTransaction', [await owner.signTransaction(tx)]));
}

const setTarget = async (target: Hex): Promise<void> => {
  for (const address of [quiet.safe, quiet.packed, beacon])
    await send(main(), address, call('changeMasterCopy', target));
  await send(main(), quiet.diamond, call('put', ABI.getFunction('store')!.selector, target));
};

/** Deploys the contracts of Safe 1.4.1, from the artifacts of its npm package. */
async function deploySafe(): Promise<Omit<typeof safe, 'old'>> {
  const clients = await installClients();
  const place = async (path: string, ...values: Hex[]): Promise<Hex> =>
    (await deploy(main(), readArtifact(join(clients, SAFE, path)), values)).address;
  const other = await place('SafeL2.sol/SafeL2.json');
  return {
    singleton: await place('Safe.sol/Safe.json'),
    other,
    factory: await place('proxies/SafeProxyFactory.sol/SafeProxyFactory.json'),
    migration: await place('examples/libraries/Migrate_1_3_0_to_1_2_0.sol/Migration.json', other),
  };
}

/** Creates a Safe of one owner through the factory of Safe. */
async function createSafe(salt: number): Promise<Hex> {
  const owners = [accounts[0]];
  const setup = call('setup', owners, 1, ZERO_ADDRESS, '0x', ZERO_ADDRESS, ZERO_ADDRESS, 0, ZERO_ADDRESS);
  const data = call('createProxyWithNonce', safe.singleton, setup, salt);
  const made = await main().call('eth_call', [{ from: accounts[0], to: safe.factory, data }, 'latest']);
  await send(main(), safe.factory, data);
  return `0x${String(made).slice(-40)}`;
}

/** Replaces the singleton by the migration of Safe, which a transaction of the Safe calls by DELEGATECALL. */
async function migrateSafe(address: Hex): Promise<void> {
  // An owner that sends the transaction itself needs no signature: version 1, with the owner as r.
  const signature = `0x${accounts[0]!.slice(2).padStart(64, '0')}${'0'.repeat(64)}01`;
  const free = [0, 0, 0, ZERO_ADDRESS, ZERO_ADDRESS];
  const data = call('execTransaction', safe.migration, 0, call('migrate'), 1, ...free, signature);
  await send(main(), address, data);
}

async function get(path: string): Promise<Json> {
  return (await (await fetch(`${program.url}/api/v1${path}`)).json()) as Json;
}

/** The names and values that the logs of an address decode to, oldest first. */
async function storedBy(address: Hex, chainId = 369): Promise<string[]> {
  const { data } = await get(`/logs?chainId=${chainId}&address=${address}&order=asc`);
  return (data ?? []).map((entry) => {
    const args = (entry['decoded'] as unknown as { args: { name: string; value: string }[] } | null)?.args;
    return args === undefined ? 'unknown' : `${args[1]!.name} ${args[1]!.value}`;
  });
}

const untilStored = (address: Hex, wanted: readonly string[], chainId = 369): Promise<string[]> =>
  eventually(
    () => storedBy(address, chainId),
    (said) => said.join() === wanted.join(),
  );

const untilRecord = (address: Hex, wanted: object, chainId = 369): Promise<unknown> =>
  eventually(
    async () => (await get(`/contracts/${address}?chainId=${chainId}`))['data'] as unknown,
    (data) => {
      try {
        expect(data).toMatchObject(wanted);
        return true;
      } catch {
        return false;
      }
    },
  );

beforeAll(async () => {
  // The second chain has the old SELFDESTRUCT, which removes code.
  chains = await Promise.all(
    [
      [369, 'prague'],
      [943, 'shanghai'],
    ].map(async ([chainId, hardfork]) => {
      const options = { log, timestamp: 1_700_000_000, accounts: 3 };
      const node = await startAnvil({ ...options, chainId: Number(chainId), hardfork: String(hardfork) });
      return { node, rpc: openDevRpc(node.url) };
    }),
  );
  const sets = [await compileSet(PROXY_SOURCES), await compileSet(CHANGING_SOURCES)].flat();
  contracts = new Map(sets.map((one) => [one.name, one]));
  accounts = (await main().call('eth_accounts')) as Hex[];
  v1 = (await deploy(main(), named('StoreV1'))).address;
  v2 = (await deploy(main(), named('StoreV2'))).address;
  beacon = (await deploy(main(), named('QuietBeacon'), [v1])).address;
  const clone = `365f5f375f5f365f73${v1.slice(2)}5af43d5f5f3e5f3d91602a57fd5bf3`;
  quiet = {
    safe: (await deploy(main(), named('SafeLike'), [v1])).address,
    packed: (await deploy(main(), named('PackedProxy'), [v1])).address,
    'beacon user': (await deploy(main(), named('BeaconUser'), [beacon])).address,
    diamond: (await deploy(main(), named('QuietDiamond'))).address,
    clone: await send(main(), null, `0x602c8060095f395ff3${clone}`),
  };
  await setTarget(v1);
  for (const address of Object.values(quiet)) await send(main(), address, storeCall(1));
  await setTarget(v2);
  for (const address of Object.values(quiet)) await send(main(), address, storeCall(2));

  safe = { ...(await deploySafe()), old: ZERO_ADDRESS };
  safe.old = await createSafe(1);
  await migrateSafe(safe.old);

  owner = Wallet.createRandom();
  await main().call('anvil_setBalance', [owner.address, '0x8ac7230489e80000']);
  for (const [value, target] of [v1, v2, v1].entries()) {
    await delegate(target);
    await send(main(), owner.address.toLowerCase() as Hex, storeCall(value));
  }
  await delegate(ZERO_ADDRESS);

  forge = (await deploy(second(), named('Forge'))).address;
  morph = getCreate2Address(
    forge,
    `0x${'0'.repeat(64)}`,
    keccak256(named('Morph').creation),
  ).toLowerCase() as Hex;
  await send(second(), forge, call('make', named('MortalV1').runtime));
  await send(second(), morph, storeCall(1));
  await send(second(), morph, call('kill'));
  await send(second(), forge, call('make', named('MortalV2').runtime));
  await send(second(), morph, storeCall(2));

  home = await createProgramHome();
  program = await home.start([chains[0]!.node.url], {
    RPC_URL_943: chains[1]!.node.url,
    FINALITY_DEPTH: '4',
  });
  const store = createVerifiedStore(home.database, createQueryRunner(home.database));
  await store.store([toRecord(named('StoreV1'), 369, v1), toRecord(named('StoreV2'), 369, v2)]);
  await store.store([toRecord(named('MortalV1'), 943, morph)]);
  await store.store([toRecord(named('MortalV2'), 943, morph)]);
});

afterAll(async () => {
  await program.stop();
  const [row] = await askRows<{ name: string }>(home.database, 'SELECT currentDatabase() AS name');
  await home.database.command('drop', `DROP DATABASE IF EXISTS ${row!.name}_943 SYNC`);
  await home.drop();
  for (const { node, rpc } of chains) {
    await rpc.close();
    await node.stop();
  }
});

test('proxies without the usual slots and events have their implementation over time', async () => {
  const kinds = { safe: 'safe', packed: 'custom_slot', 'beacon user': 'beacon', diamond: 'eip2535' } as const;
  for (const [name, kind] of Object.entries(kinds)) {
    const address = quiet[name as keyof typeof kinds];
    await untilStored(address, ['oldName 1', 'newName 2']);
    await untilRecord(address, {
      proxy: { kind, implementation: v2 },
      upgrades: [
        { log_index: null, targets: [v2] },
        { log_index: null, targets: [v1] },
      ],
    });
  }
  await untilStored(quiet.clone, ['oldName 1', 'oldName 2']);
  await untilRecord(quiet.clone, { proxy: { kind: 'eip1167', implementation: v1 }, upgrades: [] });
  await setTarget(v1);
  for (const address of Object.values(quiet)) await send(main(), address, storeCall(3));
  for (const name of Object.keys(kinds)) {
    const address = quiet[name as keyof typeof kinds];
    await untilRecord(address, { proxy: { implementation: v1 } });
    await untilStored(address, ['oldName 1', 'newName 2', 'oldName 3']);
  }
});

test('a Safe is a proxy of its singleton, and its migration to another singleton is followed', async () => {
  const { singleton, other, old } = safe;
  await untilRecord(old, {
    proxy: { kind: 'safe', implementation: other },
    upgrades: [{ targets: [other] }, { targets: [singleton] }],
  });
  const young = await createSafe(2);
  await untilRecord(young, { proxy: { kind: 'safe', implementation: singleton }, upgrades: [] });
  await migrateSafe(young);
  await untilRecord(young, {
    proxy: { kind: 'safe', implementation: other },
    upgrades: [{ targets: [other] }, { targets: [singleton] }],
  });
});

test('getcontractcreation gives the creation code of a contract that a transaction created', async () => {
  for (const address of [v1, v2]) await untilRecord(address, { creator: accounts[0] });
  const query = `module=contract&action=getcontractcreation&contractaddresses=${v1},${v2}`;
  const said = (await (await fetch(`${program.url}/api?${query}`)).json()) as { result: object[] };
  const made = ['StoreV1', 'StoreV2'].map((name) => ({ creationBytecode: named(name).creation }));
  expect(said.result).toMatchObject(made);
});

test('an account with delegated code is a proxy of its target until the delegation is withdrawn', async () => {
  const account = owner.address.toLowerCase() as Hex;
  await untilStored(account, ['oldName 0', 'newName 1', 'oldName 2']);
  await untilRecord(account, { proxy: null, code_hash: null, verified: false });
  await delegate(v2);
  await untilRecord(account, {
    type: 'proxy',
    proxy: { kind: 'eip7702', implementation: v2 },
    code_hash: keccak256(`0xef0100${v2.slice(2)}`),
    code_size: 23,
  });
  await send(main(), account, storeCall(3));
  await untilStored(account, ['oldName 0', 'newName 1', 'oldName 2', 'newName 3']);
  const change = (targets: readonly Hex[]): object => ({ kind: 'delegation', log_index: null, targets });
  const changes = [[v2], [], [v1], [v2], [v1]].map(change);
  await untilRecord(account, { upgrades: changes });
  await delegate(ZERO_ADDRESS);
  await untilRecord(account, {
    type: 'other',
    proxy: null,
    code_hash: null,
    upgrades: [change([]), ...changes],
  });
  // The code of a proxy reads its implementation from the storage of the account.
  await delegate(quiet.packed);
  await send(main(), account, call('changeMasterCopy', v1));
  await send(main(), account, storeCall(4));
  const through = [change([quiet.packed, v1]), change([quiet.packed]), change([]), ...changes];
  await untilRecord(account, { proxy: { kind: 'eip7702', implementation: quiet.packed }, upgrades: through });
  await send(main(), account, call('changeMasterCopy', v2));
  await send(main(), account, storeCall(5));
  await untilRecord(account, { upgrades: [change([quiet.packed, v2]), ...through] });
  await untilStored(account, ['oldName 0', 'newName 1', 'oldName 2', 'newName 3', 'oldName 4', 'newName 5']);
});

test('code, verification and ABI follow when code is replaced at one address', async () => {
  const [first, other] = [named('MortalV1'), named('MortalV2')];
  await untilStored(morph, ['oldName 1', 'newName 2'], 943);
  await untilRecord(
    morph,
    {
      verified: true,
      name: 'MortalV2',
      code_hash: keccak256(other.runtime),
      code_history: [
        { code_hash: keccak256(other.runtime) },
        { code_hash: null },
        { code_hash: keccak256(first.runtime) },
      ],
    },
    943,
  );
  await send(second(), morph, call('kill'));
  await untilRecord(morph, { verified: false, code_hash: null, abi: null }, 943);
  await send(second(), forge, call('make', first.runtime));
  await untilRecord(morph, { verified: true, name: 'MortalV1', code_hash: keccak256(first.runtime) }, 943);
  await send(second(), morph, storeCall(3));
  await untilStored(morph, ['oldName 1', 'newName 2', 'oldName 3'], 943);
});
