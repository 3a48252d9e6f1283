/**
 * hardhat-verify, unmodified and offline: compiles a project with npm solc, deploys a contract, and runs `hardhat
 * verify` against the program. The program compiles the sources again and compares the code with the chain's.
 */
import {
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

import type { Hex } from '../../../src/domain/hex';
import { readAbi } from '../../../src/domain/abi';
import { deploy, type WorldContract } from '../../support/worlds/verifiedWorld';
import { openClientWorld, type ClientWorld } from './clientWorld';
import { installHardhat3 } from './installClients';
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

let world: ClientWorld;
let folder: string;
let box: WorldContract;

beforeAll(async () => {
  world = await openClientWorld('small');
  folder = mkdtempSync(join(tmpdir(), 'candlehouse-hardhat-'));
  symlinkSync(join(world.clients, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'contracts'));
  writeFileSync(join(folder, 'contracts/Box.sol'), VAULT);
  writeFileSync(join(folder, 'contracts/Counted.sol'), COUNTED);
  configure('/api', 369);
  const { stdout, stderr } = await hardhat(['compile']);
  expect(stdout + stderr).toContain('Compiled 2 Solidity files successfully');
  box = readArtifact();
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.close();
});

/** Configures the chain's node as network, the program at this mount as explorer, and npm's solc as compiler. */
function configure(mount: string, chainId: number): void {
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
    `require('@nomicfoundation/hardhat-verify');
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

/** The compiled contract in the form that `deploy` takes. */
function readArtifact(): WorldContract {
  const text = readFileSync(join(folder, 'artifacts/contracts/Box.sol/Box.json'), 'utf8');
  const { abi, bytecode, deployedBytecode } = JSON.parse(text) as Record<string, string>;
  return {
    path: 'contracts/Box.sol',
    name: 'Box',
    version: SOLC,
    input: { language: 'Solidity', sources: {}, settings: {} },
    metadata: '',
    abi: readAbi(abi)!,
    creation: bytecode!,
    runtime: deployedBytecode!,
  };
}

async function sourceOf(mount: string, address: Hex): Promise<Record<string, string>> {
  const joint = mount.includes('?') ? '&' : '?';
  const url = `${world.url}${mount}${joint}module=contract&action=getsourcecode&address=${address}`;
  const { result } = (await (await fetch(url)).json()) as { result: Record<string, string>[] };
  return result[0]!;
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
    const ask = async () =>
      (await (await fetch(`${world.url}/api/v1/contracts/${address}?chainId=${chainId}`)).json()) as {
        data: Record<string, unknown>;
      };
    await until(async () => (await ask()).data['verified'] === true);
    expect((await ask()).data).toMatchObject({
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
