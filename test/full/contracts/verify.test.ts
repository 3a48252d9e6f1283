/**
 * Verification by recompiling, on a real node: contracts with immutables, libraries, arguments and a factory; tampered
 * sources.
 */
import { Interface, ZeroAddress } from 'ethers';

import type { DevRpc } from '../../../src/dev/node/devRpc';
import type { Hex } from '../../../src/domain/hex';
import type { VerificationQueue, VerificationState } from '../../../src/domain/verificationQueue';
import { createLog } from '../../../src/log';
import { createChainCode } from '../../../src/contracts/chainCode';
import { createVerifyQueue } from '../../../src/contracts/verifyQueue';
import { findCompilers } from '../../../src/contracts/verify/compilers';
import type { StandardInput } from '../../../src/contracts/verify/standardJson';
import { openSourcesDatabase, type SourcesDatabase } from '../../support/engine/sourcesDatabase';
import { compileSet, deploy, type Deployed, type WorldContract } from '../../support/worlds/verifiedWorld';
import { listSourceSets, onlyImported, TRICKY } from '../../support/worlds/worldSources';
import { until } from '../../support/eventually';
import { startNodeChain, type NodeChain } from '../../support/node/nodeChain';

const log = createLog('silent', false);
let node: NodeChain;
let rpc: DevRpc;
let db: SourcesDatabase;
let queue: VerificationQueue;
let tricky: Map<string, WorldContract>;
/** Known creations by address. A program on a real chain knows more creations. */
const creations = new Map<Hex, Hex>();

beforeAll(async () => {
  node = await startNodeChain();
  ({ rpc } = node);
  db = await openSourcesDatabase();
  queue = createVerifyQueue({
    compilers: findCompilers({ niceness: 0 }),
    chain: createChainCode(new Map([[369, node.pool]])),
    reader: db.reader,
    store: db.store,
    findCreationTransaction: async ({ address }) => creations.get(address) ?? null,
    log,
    now: () => 1_800_000_000_000,
  });
  tricky = new Map((await compileSet(TRICKY)).map((each) => [each.name, each]));
});

afterAll(async () => {
  await queue.close();
  await node.close();
  await db.close();
});

interface Asked {
  readonly input?: unknown;
  readonly name?: string;
  readonly version?: string;
  readonly constructorArguments?: Hex;
}

/** Submits a job and waits for its end. */
async function verify(contract: WorldContract, address: Hex, asked: Asked = {}): Promise<VerificationState> {
  const submission = await queue.submit({
    chainId: 369,
    address,
    input: asked.input ?? contract.input,
    contractName: asked.name ?? `${contract.path}:${contract.name}`,
    compilerVersion: asked.version ?? `v${contract.version}`,
    license: null,
    constructorArguments: asked.constructorArguments ?? null,
  });
  if (submission.kind !== 'queued') throw new Error(submission.kind);
  await until(() => queue.status(submission.guid)?.state !== 'pending');
  return queue.status(submission.guid)!;
}

/** Stores the creation of a contract, as the indexed chain does. */
async function deployKnown(...args: Parameters<typeof deploy>): Promise<Deployed> {
  const deployed = await deploy(...args);
  creations.set(deployed.address, deployed.transaction);
  return deployed;
}

const own = (address: Hex) => db.reader.find({ chainId: 369, address }, null);
const edited = (input: StandardInput, from: string, to: string): StandardInput => {
  const sources = Object.entries(input.sources).map(([path, { content }]) => [
    path,
    { content: content.replaceAll(from, to) },
  ]);
  const result = { ...input, sources: Object.fromEntries(sources) as StandardInput['sources'] };
  expect(result.sources).not.toEqual(input.sources);
  return result;
};
const vault = (): WorldContract => tricky.get('Immutable_Vault')!;
const OWNER = `0x${'ab'.repeat(20)}`;
const vaultValues = [OWNER, 12_345n, 'the label'];

test('a contract with immutables and constructor arguments is an exact match, with its arguments', async () => {
  const deployed = await deployKnown(rpc, vault(), vaultValues);
  expect(await verify(vault(), deployed.address)).toEqual({ state: 'verified', status: 'exact_match' });
  expect(await own(deployed.address)).toMatchObject({
    source: 'local',
    status: 'exact_match',
    name: 'Immutable_Vault',
    path: 'contracts/Tricky.sol',
    compilerVersion: vault().version,
    constructorArguments: deployed.constructorArguments,
    license: 'GPL-3.0-or-later',
    optimization: true,
    runs: 200,
    evmVersion: 'shanghai',
    verifiedAt: 1_800_000_000,
    abi: vault().abi,
  });
});

test('a contract that is an exact match cannot be verified again', async () => {
  const deployed = await deployKnown(rpc, vault(), vaultValues);
  await verify(vault(), deployed.address);
  const request = { chainId: 369, address: deployed.address, input: vault().input, license: null };
  expect(
    await queue.submit({ ...request, contractName: 'Immutable_Vault', compilerVersion: '0.8.30' }),
  ).toEqual({ kind: 'already_verified', status: 'exact_match' });
});

test('sources that differ in a comment give a match, and a later exact match replaces it', async () => {
  const deployed = await deployKnown(rpc, vault(), vaultValues);
  const input = edited(vault().input, '// SPDX', '// Another comment\n// SPDX');
  expect(await verify(vault(), deployed.address, { input })).toEqual({ state: 'verified', status: 'match' });
  expect(await verify(vault(), deployed.address)).toEqual({ state: 'verified', status: 'exact_match' });
  expect((await own(deployed.address))?.status).toBe('exact_match');
});

test('a contract in a block above the indexed head is checked with its creation transaction from the node', async () => {
  const deployed = await deploy(rpc, vault(), vaultValues);
  const told: Hex = `0x${deployed.constructorArguments.slice(2).replace('ab', 'cd')}`;
  expect(await verify(vault(), deployed.address, { constructorArguments: told })).toEqual({
    state: 'failed',
    reason: expect.stringMatching(/constructor arguments differ from those on the chain/),
    fault: 'no_match',
  });
  expect(await own(deployed.address)).toBeNull();
  expect(await verify(vault(), deployed.address)).toMatchObject({ status: 'exact_match' });
  const [stored] = await db.reader.listOwn([{ chainId: 369, address: deployed.address }]);
  expect(stored).toMatchObject({
    contract: { constructorArguments: deployed.constructorArguments },
    deployment: { transaction: deployed.transaction },
  });
});

test('verifying again adds the constructor arguments when the creation becomes known', async () => {
  const deployed = await deploy(rpc, vault(), vaultValues);
  // Mines 256 blocks, so that the creation is too old for the search in the node's state.
  await rpc.call('anvil_mine', ['0x100']);
  expect(await verify(vault(), deployed.address)).toMatchObject({ status: 'exact_match' });
  expect((await own(deployed.address))?.constructorArguments).toBeNull();
  await expect(verify(vault(), deployed.address)).rejects.toThrow('already_verified');
  creations.set(deployed.address, deployed.transaction);
  expect(await verify(vault(), deployed.address)).toMatchObject({ state: 'verified' });
  expect((await own(deployed.address))?.constructorArguments).toBe(deployed.constructorArguments);
  await expect(verify(vault(), deployed.address)).rejects.toThrow('already_verified');
});

test('a contract created by another contract is compared without creation code, and its arguments are null', async () => {
  const maker = await deployKnown(rpc, tricky.get('Vault_Maker')!);
  expect(await verify(tricky.get('Vault_Maker')!, maker.address)).toEqual({
    state: 'verified',
    status: 'exact_match',
  });
  const abi = new Interface(JSON.stringify(tricky.get('Vault_Maker')!.abi));
  const [from] = (await rpc.call('eth_accounts')) as Hex[];
  const data = abi.encodeFunctionData('make', [77n]);
  const transaction = (await rpc.call('eth_sendTransaction', [{ from, to: maker.address, data }])) as Hex;
  await rpc.call('evm_mine');
  const receipt = (await rpc.call('eth_getTransactionReceipt', [transaction])) as {
    logs: { data: string }[];
  };
  const address: Hex = `0x${receipt.logs[0]!.data.slice(-40)}`;
  creations.set(address, transaction);
  expect(await verify(vault(), address)).toEqual({ state: 'verified', status: 'exact_match' });
  expect((await own(address))?.constructorArguments).toBeNull();
});

test('a library matches despite its call protection, and a linked contract lists its address', async () => {
  const library = await deployKnown(rpc, tricky.get('Sum_Library')!);
  expect(await verify(tricky.get('Sum_Library')!, library.address)).toEqual({
    state: 'verified',
    status: 'exact_match',
  });
  const name = 'contracts/Tricky.sol:Sum_Library';
  const linked = await deployKnown(rpc, tricky.get('Linked')!, [], { [name]: library.address });
  expect((await verify(tricky.get('Linked')!, linked.address)).state).toBe('verified');
  expect((await own(linked.address))?.libraries).toEqual({ [name]: library.address });
});

test('a contract that is linked to another library than its settings name is refused', async () => {
  const library = await deployKnown(rpc, tricky.get('Sum_Library')!);
  const name = 'contracts/Tricky.sol:Sum_Library';
  const linked = await deployKnown(rpc, tricky.get('Linked')!, [], { [name]: library.address });
  const verifyWith = (path: string, at: Hex): Promise<VerificationState> => {
    const settings = { ...TRICKY.input.settings, libraries: { [path]: { Sum_Library: at } } };
    return verify(tricky.get('Linked')!, linked.address, { input: { ...TRICKY.input, settings } });
  };
  const other: Hex = `0x${'77'.repeat(20)}`;
  expect(await verifyWith('contracts/Tricky.sol', other)).toMatchObject({
    state: 'failed',
    reason: expect.stringContaining('runtime code differs in'),
  });
  // The compiler does not link a library under an empty path.
  expect(await verifyWith('', other)).toMatchObject({
    state: 'failed',
    reason: `library ${name} has the address ${library.address} in the code on the chain, not ${other}`,
  });
  expect(await own(linked.address)).toBeNull();
  expect(await verifyWith('', library.address)).toMatchObject({ state: 'verified' });
  expect((await own(linked.address))?.libraries).toEqual({ [name]: library.address });
});

test.each([
  ['another operation in a function', 'used > cap ? 0 : cap - used', 'used > cap ? 1 : cap - used'],
  ['another constructor', 'cap = cap_;', 'cap = cap_ + 1;'],
])('tampered sources are refused: %s', async (_, from, to) => {
  const deployed = await deployKnown(rpc, vault(), vaultValues);
  const state = await verify(vault(), deployed.address, { input: edited(vault().input, from, to) });
  expect(state).toMatchObject({ state: 'failed' });
  expect(await own(deployed.address)).toBeNull();
});

test.each([
  ['UniswapV2Factory', 'contracts/UniswapV2Factory.sol', '0.5.16', 'istanbul', [ZeroAddress]],
  ['Pulse_Token_2', 'contracts/tokens/Pulse_Token_2.sol', '0.8.30', 'shanghai', [OWNER]],
  ['ERC1967Proxy', '@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol', '0.8.30', 'shanghai', null],
] as const)(
  '%s of a real package is verified from its own sources',
  async (name, path, compiler, evmVersion, values) => {
    const { version, input } = listSourceSets().find(
      (set) => set.version === compiler && path in set.input.sources,
    )!;
    const sourceOfItself = { [path]: input.sources[path]! };
    const sources = { ...onlyImported(input.sources, sourceOfItself), ...sourceOfItself };
    const settings = { ...input.settings, evmVersion };
    const compiled = await compileSet({ version, input: { ...input, sources, settings } });
    const contract = compiled.find((each) => each.name === name && each.path === path)!;
    const target = await deploy(rpc, vault(), vaultValues);
    const deployed = await deployKnown(rpc, contract, values ?? [target.address, '0x']);
    expect(await verify(contract, deployed.address)).toEqual({ state: 'verified', status: 'exact_match' });
    expect((await own(deployed.address))?.constructorArguments).toBe(deployed.constructorArguments);
  },
);

test('sources that the contract does not use are not stored', async () => {
  const deployed = await deployKnown(rpc, vault(), vaultValues);
  const sources = { ...vault().input.sources, 'extra.sol': { content: 'contract Extra {}' } };
  expect(await verify(vault(), deployed.address, { input: { ...vault().input, sources } })).toMatchObject({
    state: 'verified',
  });
  expect((await own(deployed.address))?.files.map((file) => file.path)).toEqual(['contracts/Tricky.sol']);
});

test.each([
  [
    'a compiler that is not installed',
    { version: 'v0.4.26+commit.4563c3fc' },
    /0\.4\.26.* is not installed; installed: 0\.8\.37, .*0\.5\.16/,
  ],
  [
    'another build of an installed compiler',
    { version: 'v0.8.30+commit.00000000' },
    /is not installed; installed: 0\.8\.30\+commit/,
  ],
  [
    'a contract that the sources do not contain',
    { name: 'contracts/Tricky.sol:Nobody' },
    /do not contain the contract contracts\/Tricky\.sol:Nobody/,
  ],
  [
    'sources that do not compile',
    { input: { language: 'Solidity', sources: { 'a.sol': { content: 'contract {' } } }, name: 'A' },
    /do not compile: ParserError/,
  ],
  [
    'an import that would have to be fetched',
    {
      input: {
        language: 'Solidity',
        sources: { 'a.sol': { content: 'import "https://example.org/b.sol"; contract A {}' } },
      },
      name: 'A',
    },
    /do not compile: .*not found/s,
  ],
  [
    'an interface',
    { input: { language: 'Solidity', sources: { 'a.sol': { content: 'interface A {}' } } }, name: 'A' },
    /abstract or an interface/,
  ],
] as const)('a verification fails with a reason: %s', async (_, asked, reason) => {
  const deployed = await deployKnown(rpc, vault(), vaultValues);
  const state = await verify(vault(), deployed.address, asked);
  expect(state).toMatchObject({ state: 'failed', reason: expect.stringMatching(reason) });
});

test.each([
  ['an input that is not an object', 7, /standard JSON input is not valid/],
  [
    'sources by URL only',
    { language: 'Solidity', sources: { 'a.sol': { urls: ['ipfs://x'] } } },
    /sources\.a\.sol\.content/,
  ],
  ['no sources', { language: 'Solidity', sources: {} }, /got 0 source files/],
  [
    'another language',
    { language: 'Brainfuck', sources: { a: { content: '' } } },
    /got "Brainfuck"; allowed: Solidity, Yul/,
  ],
])('the verification request is refused before compilation: %s', async (_, input, reason) => {
  const request = { chainId: 369, address: OWNER as Hex, contractName: 'A', compilerVersion: '0.8.30' };
  await expect(queue.submit({ ...request, input, license: null })).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringMatching(reason),
  });
});

test('an address without code and a chain without a node are different errors', async () => {
  const request = { input: TRICKY.input, contractName: 'Linked', compilerVersion: '0.8.30', license: null };
  const address: Hex = `0x${'99'.repeat(20)}`;
  expect(await queue.submit({ ...request, chainId: 369, address })).toEqual({ kind: 'no_code' });
  expect(await queue.submit({ ...request, chainId: 943, address })).toEqual({ kind: 'no_node' });
});

test('a compilation that takes too long or too much memory ends and leaves no process', async () => {
  const source = `contract A { function f() public pure { ${'uint[] memory a; '.replace('a;', 'a;')} ${Array.from({ length: 400 }, (__, i) => `{ uint b${i} = ${i}; a = new uint[](b${i}); }`).join('')} } }`;
  const input = {
    language: 'Solidity',
    sources: { 'a.sol': { content: source } },
    settings: {
      viaIR: true,
      optimizer: { enabled: true },
      outputSelection: { '*': { '*': ['evm.bytecode'] } },
    },
  };
  const quick = findCompilers({ cpuSeconds: 2, niceness: 0 });
  await expect(quick.compile('0.8.30', input)).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringMatching(/exceeded 2 s/),
  });
  const small = findCompilers({ memoryMax: 150 * 2 ** 20, niceness: 0 });
  await expect(small.compile('0.8.30', input)).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringMatching(/exceeded its memory limit/),
  });
});

test('the state of an unknown ticket is null', () => {
  expect(queue.status('0'.repeat(50))).toBeNull();
});
