/** Libraries that read from an explorer, unmodified: whatsabi, wagmi, ethers 6 and 5, graph-cli. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Interface, getAddress } from 'ethers';

import { field, type DevRpc } from '../../../src/dev/node/devRpc';
import { openClientWorld, type ClientWorld, type Placed } from './clientWorld';
import { runClient, runScript } from './runClient';

let world: ClientWorld;

beforeAll(async () => {
  world = await openClientWorld('large');
});

afterAll(() => world.close());

/** Base URLs for a client, each with the chain whose contract the client must find there. */
const MOUNTS = [
  ['/api', 369],
  ['/943/api', 943],
  ['/api?chainid=943', 943],
  ['/v2/api?chainid=369', 369],
] as const;
const PATHS = MOUNTS.filter(([mount]) => !mount.includes('?'));

const filesOf = ({ contract }: Placed): Record<string, string> =>
  Object.fromEntries(Object.entries(contract.input.sources).map(([path, { content }]) => [path, content]));

test('whatsabi loads the ABIs of all verified contracts', async () => {
  const script = `
    import { whatsabi } from '@shazow/whatsabi';
    const loader = new whatsabi.loaders.EtherscanV1ABILoader({ baseURL: given.url, apiKey: 'k' });
    const abis = [];
    for (let at = 0; at < given.addresses.length; at += 8)
      abis.push(...await Promise.all(given.addresses.slice(at, at + 8).map((one) => loader.loadABI(one))));
    print(abis);
  `;
  const addresses = world.verified.map(({ address }) => address);
  const abis = await runScript(world.clients, script, { url: `${world.url}/api`, addresses });
  expect(world.verified.length).toBeGreaterThanOrEqual(150);
  expect(abis).toEqual(world.verified.map(({ contract }) => contract.abi));
});

/** Reads a verified contract and a missing one with one of whatsabi's loaders. `own` is a field that only
 * this loader returns. */
async function loadWith(loader: string, own: 'runs' | 'evmVersion', mount: string, chainId: 369 | 943) {
  const script = `
    import { whatsabi } from '@shazow/whatsabi';
    const loader = new whatsabi.loaders.${loader}({ baseURL: given.url, apiKey: 'k' });
    const { name, compilerVersion, ${own}, abi, getSources } = await loader.getContract(given.address);
    const miss = await loader.loadABI(given.missing);
    print({ name, compilerVersion, ${own}, abi, sources: await getSources(), miss });
  `;
  const seen = world.twoFaced[chainId];
  const { contract, address } = seen;
  const found = await runScript<{ sources: { path?: string; content: string }[] }>(world.clients, script, {
    url: world.url + mount,
    address,
    missing: world.unverified.address,
  });
  expect(found).toMatchObject({
    name: contract.name,
    compilerVersion: `v${contract.version}`,
    [own]: { runs: '200', evmVersion: 'shanghai' }[own],
    abi: contract.abi,
    miss: [],
  });
  const sources = found.sources.map(({ path, content }) => [path ?? contract.path, content]);
  expect(Object.fromEntries(sources)).toEqual(filesOf(seen));
}

test.each(MOUNTS)('whatsabi reads a contract, its sources and an unknown contract on %s', (mount, chainId) =>
  loadWith('EtherscanV1ABILoader', 'runs', mount, chainId),
);

test.each(PATHS)(
  'whatsabi reads the same contract data from the Blockscout API below "%s"',
  (mount, chainId) => loadWith('BlockscoutABILoader', 'evmVersion', mount, chainId),
);

/** Runs `wagmi generate` in a new folder. */
async function generate(baseUrl: string, chainId: number | null, address: string) {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-wagmi-'));
  try {
    symlinkSync(join(world.clients, 'node_modules'), join(folder, 'node_modules'));
    const options = {
      baseUrl,
      apiKey: 'k',
      contracts: [{ name: 'Seen', address }],
      ...(chainId === null ? {} : { chainId }),
    };
    writeFileSync(
      join(folder, 'wagmi.config.mjs'),
      `import { blockExplorer } from '@wagmi/cli/plugins';
       export default { out: 'generated.js', plugins: [blockExplorer(${JSON.stringify(options)})] };`,
    );
    const cli = join(folder, 'node_modules/@wagmi/cli/dist/esm/cli.js');
    const run = await runClient(process.execPath, [cli, 'generate'], { cwd: folder });
    const text = run.code === 0 ? readFileSync(join(folder, 'generated.js'), 'utf8') : '';
    return { ...run, text };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test.each([
  ['/api', null, 369],
  ['/943/api', null, 943],
  ['/api', 943, 943],
] as const)(
  'wagmi generates the ABI of a contract from %s with chainId %s',
  async (mount, asked, chainId) => {
    const { contract, address } = world.twoFaced[chainId];
    const { code, text, stdout, stderr } = await generate(world.url + mount, asked, address);
    expect([code, stdout + stderr]).toEqual([0, expect.any(String)]);
    const [, abi = ''] = /export const seenAbi = (\[[\s\S]*?\n\])/.exec(text) ?? [];
    // wagmi writes the ABI as a JavaScript literal, which is not valid JSON.
    expect(new Function(`return ${abi}`)()).toEqual(contract.abi);
  },
);

test('wagmi reports that an unverified contract is not verified', async () => {
  const { code, stdout, stderr } = await generate(`${world.url}/api`, 369, world.unverified.address);
  expect(code).not.toBe(0);
  expect(stdout + stderr).toMatch(/Contract source code not verified/);
});

test.each([
  ['', 369],
  ['/943', 943],
] as const)(
  'ethers 6.13 with the plugin for "%s" reads a contract, the newest block, a balance and the result of a call',
  async (base, chainId) => {
    const script = `
    import { EtherscanPlugin, EtherscanProvider, Network } from 'ethers';
    const network = new Network('pulse', given.chainId);
    network.attachPlugin(new EtherscanPlugin(given.base));
    const provider = new EtherscanProvider(network, 'k');
    const contract = await provider.getContract(given.address);
    const missing = await provider.getContract(given.missing);
    print({
      abi: JSON.parse(contract.interface.formatJson()),
      missing,
      head: await provider.getBlockNumber(),
      balance: String(await provider.getBalance(given.account)),
      call: await provider.call({ to: given.address, data: given.data }),
    });
  `;
    const { contract, address } = world.twoFaced[chainId];
    const { rpc } = world.nodes.get(chainId)!;
    const [account] = (await rpc.call('eth_accounts')) as string[];
    const data =
      chainId === 369
        ? new Interface(['function totalSupply()']).encodeFunctionData('totalSupply')
        : new Interface(['function make(uint256)']).encodeFunctionData('make', [77n]);
    const missing = world.unverified.address;
    const given = { base: world.url + base, chainId, address, missing, account, data };
    const found = await runScript<{ call: string }>(world.clients, script, given);
    expect(BigInt(found.call)).toBeGreaterThan(0n);
    expect(found).toEqual({
      abi: JSON.parse(new Interface(JSON.stringify(contract.abi)).formatJson()),
      missing: null,
      head: Number(await rpc.call('eth_blockNumber')),
      balance: String(BigInt(String(await rpc.call('eth_getBalance', [account, 'latest'])))),
      call: await rpc.call('eth_call', [{ to: address, data }, 'latest']),
    });
  },
);

test.each([
  ['', 369],
  ['/943', 943],
] as const)('ethers 5 reads the same logs from "%s" as from the node', async (base, chainId) => {
  const script = `
    import { createRequire } from 'node:module';
    const { ethers } = createRequire(process.cwd() + '/')('ethers-5');
    class Provider extends ethers.providers.EtherscanProvider {
      getBaseUrl() { return given.base; }
    }
    const provider = new Provider({ chainId: given.chainId, name: 'pulse' }, 'k');
    const of = (filter) => provider.getLogs({ fromBlock: 1, toBlock: 'latest', ...filter });
    print({
      all: await of({ address: given.address }),
      topic: await of({ address: given.address, topics: [given.topic] }),
      none: await of({ address: given.address, topics: ['0x' + '77'.repeat(32)] }),
      head: await provider.getBlockNumber(),
    });
  `;
  const { address } = world.twoFaced[chainId];
  const { rpc } = world.nodes.get(chainId)!;
  const logs = (await rpc.call('eth_getLogs', [{ address, fromBlock: '0x0' }])) as Record<string, string>[];
  expect(logs.length).toBeGreaterThan(1);
  const topic = logs[0]!['topics']![0];
  const plain = logs.map((log) => ({
    blockNumber: Number(log['blockNumber']),
    blockHash: log['blockHash'],
    transactionHash: log['transactionHash'],
    transactionIndex: Number(log['transactionIndex']),
    logIndex: Number(log['logIndex']),
    address: getAddress(address),
    topics: log['topics'],
    data: log['data'],
  }));
  const found = await runScript<{ all: object[]; topic: object[]; none: object[]; head: number }>(
    world.clients,
    script,
    { base: world.url + base, chainId, address, topic },
  );
  expect(found.all).toEqual(plain.map((log) => expect.objectContaining(log)));
  expect(found.topic).toEqual(found.all.filter((_, index) => logs[index]!['topics']![0] === topic));
  expect(found.none).toEqual([]);
  expect(found.head).toBe(Number(await rpc.call('eth_blockNumber')));
});

/** Finds the creation block of a contract by looking at each block. */
async function findCreation(rpc: DevRpc, address: string): Promise<number> {
  const head = Number(await rpc.call('eth_blockNumber'));
  for (let number = 1; number <= head; number += 1) {
    const block = await rpc.call('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]);
    for (const hash of field(block, 'transactions') as string[]) {
      const receipt = await rpc.call('eth_getTransactionReceipt', [hash]);
      if (field(receipt, 'contractAddress') === address) return number;
    }
  }
  throw new Error(`nobody made ${address}`);
}

test.each(PATHS)(
  'graph-cli reads ABI, name and start block of a contract from "%s"',
  async (mount, chainId) => {
    const script = `
    import { ContractService } from './node_modules/@graphprotocol/graph-cli/dist/command-helpers/contracts.js';
    const apiUrls = [{ kind: 'etherscan', url: given.url }];
    const service = new ContractService({ getNetworkById: () => ({ apiUrls, rpcUrls: [given.node] }) });
    class Abi { constructor(name, file, data) { this.data = data; } }
    const { data } = await service.getABI(Abi, 'pulse', given.address);
    print({
      abi: data.toJS(),
      name: await service.getContractName('pulse', given.address),
      start: await service.getStartBlock('pulse', given.address),
      missing: await service.getABI(Abi, 'pulse', given.missing).catch((error) => error.message),
    });
  `;
    const { contract, address } = world.twoFaced[chainId];
    const { url, rpc } = world.nodes.get(chainId)!;
    const given = { url: world.url + mount, node: url, address, missing: world.unverified.address };
    const found = await runScript(world.clients, script, given);
    expect(found).toEqual({
      abi: contract.abi,
      name: contract.name,
      start: String(await findCreation(rpc, address)),
      missing: expect.stringMatching(/Contract source code not verified/),
    });
  },
);
