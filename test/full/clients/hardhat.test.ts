/**
 * hardhat-verify and the upgrades plugin of OpenZeppelin, unmodified and offline: compiles a project with npm solc,
 * deploys contracts, and runs `hardhat verify` against the program. The program compiles the sources again and compares
 * the code with the chain's.
 */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Interface } from 'ethers';

import type { Hex } from '../../../src/domain/hex';
import { deploy, type WorldContract } from '../../support/worlds/verifiedWorld';
import { openClientWorld, type ClientWorld } from './clientWorld';
import { installClients, installHardhat3 } from './installClients';
import { readArtifact } from './readArtifact';
import { runClient } from './runClient';
import { until } from '../../support/eventually';

const SOLC = '0.8.30';
const VAULT = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {Counted} from "./Counted.sol";

contract Box is Counted {
    address public immutable keeper;
    string public label;

    constructor(address keeper_, string memory label_) {
        keeper = keeper_;
        label = label_;
    }

    function put(uint256 value) external {
        count += value;
    }
}
`;
const COUNTED = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

contract Counted {
    uint256 public count;
}
`;

/** The plugin of OpenZeppelin changes the task of hardhat-verify, so it is loaded after hardhat-verify. */
const UPGRADES = [
  '@nomicfoundation/hardhat-ethers',
  '@nomicfoundation/hardhat-verify',
  '@openzeppelin/hardhat-upgrades',
];
const ADMIN_SLOT = '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103';

let world: ClientWorld;
let folder: string;
let compilers: string;
let box: WorldContract;

beforeAll(async () => {
  compilers = mkdtempSync(join(tmpdir(), 'candlehouse-compilers-'));
  listCompiler(join(await installClients(), 'node_modules/solc-0.8.29/soljson.js'));
  world = await openClientWorld('small', { SOLC_DIR: compilers });
  folder = mkdtempSync(join(tmpdir(), 'candlehouse-hardhat-'));
  symlinkSync(join(world.clients, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'contracts'));
  writeFileSync(join(folder, 'contracts/Box.sol'), VAULT);
  writeFileSync(join(folder, 'contracts/Counted.sol'), COUNTED);
  configure('/api', 369);
  const { stdout, stderr } = await hardhat(['compile']);
  expect(stdout + stderr).toContain('Compiled 2 Solidity files successfully');
  box = readArtifact(join(folder, 'artifacts/contracts/Box.sol/Box.json'));
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.close();
  rmSync(compilers, { recursive: true, force: true });
});

/** Offers the compiler of OpenZeppelin's proxies to the program. It is none of the installed ones. */
function listCompiler(file: string): void {
  const sha256 = `0x${createHash('sha256').update(readFileSync(file)).digest('hex')}`;
  const longVersion = '0.8.29+commit.ab55807c';
  const build = { path: 'soljson.js', version: '0.8.29', longVersion, sha256 };
  copyFileSync(file, join(compilers, build.path));
  writeFileSync(join(compilers, 'list.json'), JSON.stringify({ builds: [build] }));
}

/** Configures the chain's node as network, the program at this mount as explorer, and npm's solc as compiler. */
function configure(
  mount: string,
  chainId: number,
  plugins: readonly string[] = ['@nomicfoundation/hardhat-verify'],
): void {
  const solc = join(__dirname, '../../../node_modules', `solc-${SOLC}`);
  const settings = {
    solidity: {
      version: SOLC,
      settings: { optimizer: { enabled: true, runs: 1_000 }, evmVersion: 'shanghai' },
    },
    networks: { pls: { url: world.nodes.get(chainId)!.url, chainId } },
    etherscan: {
      apiKey: { pls: 'k' },
      customChains: [
        { network: 'pls', chainId, urls: { apiURL: world.url + mount, browserURL: 'http://127.0.0.1' } },
      ],
    },
    sourcify: { enabled: false },
  };
  writeFileSync(
    join(folder, 'hardhat.config.js'),
    `${plugins.map((plugin) => `require('${plugin}');`).join('\n')}
     const { subtask } = require('hardhat/config');
     const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require('hardhat/builtin-tasks/task-names');
     const folder = ${JSON.stringify(solc)};
     subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, async () => ({
       version: ${JSON.stringify(SOLC)},
       longVersion: require(folder).version().replace(/\\.Emscripten.*/, ''),
       compilerPath: folder + '/soljson.js',
       isSolcJs: true,
     }));
     module.exports = ${JSON.stringify(settings)};`,
  );
}

function hardhat(args: readonly string[]) {
  const cli = join(folder, 'node_modules/hardhat/internal/cli/bootstrap.js');
  return runClient(process.execPath, [cli, ...args], {
    cwd: folder,
    env: { HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' },
  });
}

async function sourceOf(mount: string, address: Hex): Promise<Record<string, string>> {
  const joint = mount.includes('?') ? '&' : '?';
  const url = `${world.url}${mount}${joint}module=contract&action=getsourcecode&address=${address}`;
  const { result } = (await (await fetch(url)).json()) as { result: Record<string, string>[] };
  return result[0]!;
}

async function contractOf(address: Hex, chainId: number): Promise<Record<string, unknown>> {
  const answer = await fetch(`${world.url}/api/v1/contracts/${address}?chainId=${chainId}`);
  return ((await answer.json()) as { data: Record<string, unknown> }).data;
}

const keeper = (byte: string): string => `0x${byte.repeat(20)}`;

test.each([
  ['/api', 369, 'a1'],
  ['/943/api', 943, 'a2'],
] as const)(
  'hardhat verify submits its own build on %s, and the contract becomes verified',
  async (mount, chainId, byte) => {
    const { rpc } = world.nodes.get(chainId)!;
    const { address, constructorArguments } = await deploy(rpc, box, [keeper(byte), 'a box']);
    configure(mount, chainId);
    expect((await sourceOf(mount, address))['SourceCode']).toBe('');
    const verify = ['verify', '--network', 'pls', address, keeper(byte), 'a box'];
    const { stdout, stderr } = await hardhat(verify);
    expect(stdout + stderr).toContain('Successfully verified contract Box on the block explorer');
    await until(async () => (await sourceOf(mount, address))['ContractName'] === 'Box');
    const source = await sourceOf(mount, address);
    expect(source).toMatchObject({
      ContractName: 'Box',
      OptimizationUsed: '1',
      Runs: '1000',
      EVMVersion: 'shanghai',
    });
    expect(JSON.parse(source['ABI']!)).toEqual(box.abi);
    const { sources } = JSON.parse(source['SourceCode']!.slice(1, -1)) as { sources: object };
    expect(sources).toEqual({
      'contracts/Box.sol': { content: VAULT },
      'contracts/Counted.sol': { content: COUNTED },
    });
    await until(async () => (await contractOf(address, chainId))['verified'] === true);
    expect(await contractOf(address, chainId)).toMatchObject({
      verification: { status: 'exact_match', source: 'local' },
      constructor_args: constructorArguments,
    });
    const again = await hardhat(verify);
    expect(again.stdout + again.stderr).toContain('has already been verified on the block explorer');
  },
);

test('hardhat verify reports a contract that is already verified', async () => {
  configure('/api', 369);
  const { stdout, stderr } = await hardhat(['verify', '--network', 'pls', world.vault.address]);
  expect(stdout + stderr).toContain(`The contract ${world.vault.address} has already been verified`);
});

/** Changes a line in each of these files for the duration of `run`. The bytecode in the artifacts stays the same. */
async function withOthers<T>(places: readonly string[], run: () => Promise<T>): Promise<T> {
  const texts = places.map((place) => readFileSync(place, 'utf8'));
  try {
    for (const [index, place] of places.entries()) {
      const told = texts[index]!.replace('count += value;', 'count += value + 1;');
      expect(told).not.toBe(texts[index]);
      writeFileSync(place, told);
    }
    return await run();
  } finally {
    for (const [index, place] of places.entries()) writeFileSync(place, texts[index]!);
  }
}

test('if the sources on disk do not match the contract, hardhat verify succeeds with the full input of the compiler', async () => {
  configure('/api', 369);
  const { address } = await deploy(world.nodes.get(369)!.rpc, box, [keeper('b1'), 'a box']);
  const verify = ['verify', '--network', 'pls', address, keeper('b1'), 'a box'];
  const disk = join(folder, 'contracts/Box.sol');
  const { code, stdout, stderr } = await withOthers([disk], () => hardhat(verify));
  expect(stdout + stderr).toContain('Trying again with the full solc input');
  expect(stdout + stderr).toContain('Successfully verified contract Box on the block explorer');
  expect(code).toBe(0);
});

test('hardhat verify fails with a message if no submitted sources fit the contract', async () => {
  configure('/api', 369);
  const { address } = await deploy(world.nodes.get(369)!.rpc, box, [keeper('b2'), 'a box']);
  const verify = ['verify', '--network', 'pls', address, keeper('b2'), 'a box'];
  const builds = join(folder, 'artifacts/build-info');
  const places = [join(folder, 'contracts/Box.sol'), join(builds, readdirSync(builds)[0]!)];
  const { code, stdout, stderr } = await withOthers(places, () => hardhat(verify));
  expect(stdout + stderr).toContain('Fail - Unable to verify');
  expect(code).toBe(1);
  expect((await sourceOf('/api', address))['SourceCode']).toBe('');
});

test('the plugin of OpenZeppelin verifies proxies and links them to their implementation, also after an upgrade', async () => {
  configure('/api', 369, UPGRADES);
  const { rpc } = world.nodes.get(369)!;
  const [from] = (await rpc.call('eth_accounts')) as Hex[];
  const build = join(folder, 'node_modules/@openzeppelin/upgrades-core/artifacts/@openzeppelin/contracts-v5');
  const place = async (path: string, ...values: unknown[]): Promise<Hex> =>
    (await deploy(rpc, readArtifact(join(build, 'proxy', `${path}.json`)), values)).address;
  const boxes: Hex[] = [];
  for (const label of ['box 0', 'box 1']) boxes.push((await deploy(rpc, box, [keeper('d1'), label])).address);
  const beacon = await place('beacon/UpgradeableBeacon.sol/UpgradeableBeacon', boxes[0], from);
  const transparent = 'transparent/TransparentUpgradeableProxy.sol/TransparentUpgradeableProxy';
  const proxies = {
    TransparentUpgradeableProxy: await place(transparent, boxes[0], from, '0x'),
    ERC1967Proxy: await place('ERC1967/ERC1967Proxy.sol/ERC1967Proxy', boxes[0], '0x'),
    BeaconProxy: await place('beacon/BeaconProxy.sol/BeaconProxy', beacon, '0x'),
  };
  /** Runs the plugin once the program knows that `address` has this box. The arguments are those of the box. */
  const verify = async (address: Hex, index: number): Promise<string> => {
    const isIndexed = async (): Promise<boolean> => {
      const { proxy } = (await contractOf(address, 369)) as { proxy: { implementation: Hex } };
      return proxy.implementation === boxes[index];
    };
    await until(isIndexed);
    const { code, stdout, stderr } = await hardhat([
      ...['verify', '--network', 'pls', address],
      ...[keeper('d1'), `box ${index}`],
    ]);
    expect([code, stdout, stderr]).toEqual([0, expect.stringContaining('Proxy fully verified.'), stderr]);
    expect(stdout).toContain('Successfully linked proxy to implementation.');
    return stdout;
  };
  const said = new Map<string, string>();
  for (const [name, address] of Object.entries(proxies)) {
    said.set(name, await verify(address, 0));
    expect(said.get(name)).toContain(`Successfully verified contract ${name} at ${address}`);
  }
  expect(said.get('TransparentUpgradeableProxy')).toContain('Successfully verified contract ProxyAdmin at');
  expect(said.get('BeaconProxy')).toContain('Successfully verified contract UpgradeableBeacon at');
  const abi = new Interface(['function upgradeTo(address)']);
  const data = abi.encodeFunctionData('upgradeTo', [boxes[1]]);
  await rpc.call('eth_sendTransaction', [{ from, to: beacon, data, gas: '0x7a1200' }]);
  const slot = await rpc.call('eth_getStorageAt', [
    proxies.TransparentUpgradeableProxy,
    ADMIN_SLOT,
    'latest',
  ]);
  const admin = new Interface(['function upgradeAndCall(address,address,bytes)']);
  const values = [proxies.TransparentUpgradeableProxy, boxes[1], '0x'];
  const call = {
    to: `0x${String(slot).slice(-40)}`,
    data: admin.encodeFunctionData('upgradeAndCall', values),
  };
  await rpc.call('eth_sendTransaction', [{ from, ...call, gas: '0x7a1200' }]);
  await rpc.call('evm_mine');
  for (const address of [proxies.TransparentUpgradeableProxy, proxies.BeaconProxy])
    expect(await verify(address, 1)).toContain(`Contract at ${address} already verified`);
});

describe('hardhat 3 verifies contracts', () => {
  let place: string;
  let node: string;

  beforeAll(async () => {
    const installed = await installHardhat3(world.clients);
    node = installed.node;
    place = mkdtempSync(join(tmpdir(), 'candlehouse-hardhat3-'));
    symlinkSync(join(installed.folder, 'node_modules'), join(place, 'node_modules'));
    mkdirSync(join(place, 'contracts'));
    writeFileSync(join(place, 'contracts/Box.sol'), VAULT);
    writeFileSync(join(place, 'contracts/Counted.sol'), COUNTED);
    writeFileSync(join(place, 'package.json'), '{"type":"module"}');
    const explorer = { name: 'own', url: 'http://127.0.0.1', apiUrl: `${world.url}/api` };
    const compiler = {
      version: SOLC,
      path: join(__dirname, '../../../node_modules', `solc-${SOLC}`, 'soljson.js'),
      settings: { optimizer: { enabled: true, runs: 1_000 }, evmVersion: 'shanghai' },
    };
    const config = {
      solidity: { profiles: { default: compiler, production: compiler } },
      networks: { pls: { type: 'http', url: world.nodes.get(369)!.url, chainId: 369 } },
      chainDescriptors: {
        369: { name: 'pls', blockExplorers: { blockscout: explorer, etherscan: explorer } },
      },
      verify: { sourcify: { apiUrl: world.url }, etherscan: { apiKey: 'k' } },
    };
    writeFileSync(
      join(place, 'hardhat.config.js'),
      `import verify from '@nomicfoundation/hardhat-verify';
       export default { plugins: [verify], ...${JSON.stringify(config)} };`,
    );
    expect(await hardhat3(['build', '--build-profile', 'production'])).toContain('Compiled');
  });

  afterAll(() => rmSync(place, { recursive: true, force: true }));

  async function hardhat3(args: readonly string[]): Promise<string> {
    const cli = join(place, 'node_modules/hardhat/dist/src/cli.js');
    const { stdout, stderr } = await runClient(node, [cli, ...args], {
      cwd: place,
      env: { HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true', CI: 'true' },
    });
    return stdout + stderr;
  }

  test.each([
    ['blockscout', 'c1', 'Blockscout'],
    ['sourcify', 'c2', 'Sourcify'],
    ['etherscan', 'c3', 'Etherscan'],
  ])(
    'its provider %s verifies a contract, and then reports the contract as verified',
    async (provider, byte) => {
      const artifact = JSON.parse(
        readFileSync(join(place, 'artifacts/contracts/Box.sol/Box.json'), 'utf8'),
      ) as Record<string, string>;
      const contract = { ...box, creation: artifact['bytecode']!, runtime: artifact['deployedBytecode']! };
      const { address } = await deploy(world.nodes.get(369)!.rpc, contract, [keeper(byte), 'a box']);
      const verify = ['verify', provider, '--network', 'pls', address, keeper(byte), 'a box'];
      expect(await hardhat3(verify)).toContain('Contract verified successfully on');
      expect(await hardhat3(verify)).toContain('has already been verified');
      // With --force, hardhat submits the sources again, and the program refuses them.
      expect(await hardhat3([...verify.slice(0, 2), '--force', ...verify.slice(2)])).toContain('already');
    },
  );
});
