/** Foundry's cast and forge, unmodified: sources, interfaces, creations, and a whole project cloned and compiled. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { getAddress } from 'ethers';

import { field } from '../../../src/dev/node/devRpc';
import { openClientWorld, type ClientWorld, type Placed } from './clientWorld';
import { runClient, type ClientRun } from './runClient';
import { until } from '../../support/eventually';
import { deploy } from '../../support/worlds/verifiedWorld';

let world: ClientWorld;
let folder: string;

beforeAll(async () => {
  world = await openClientWorld('small');
});

afterAll(() => world.close());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'candlehouse-foundry-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a tool of Foundry in the test's folder. */
function run(tool: 'cast' | 'forge', args: readonly string[], home?: string): Promise<ClientRun> {
  const program = join(world.clients, 'node_modules/@foundry-rs', tool, 'bin.mjs');
  return runClient(process.execPath, [program, ...args], {
    cwd: folder,
    ...(home === undefined ? {} : { home }),
  });
}

/** Configures the explorer address of a chain in foundry.toml. */
function configure(chainId: number, mount: string): void {
  const entry = `pulse = { key = "k", chain = ${chainId}, url = "${world.url}${mount}" }`;
  writeFileSync(join(folder, 'foundry.toml'), `[etherscan]\n${entry}\n`);
}

const MOUNTS = [
  ['/api', 369],
  ['/943/api', 943],
  ['/api?chainid=943', 943],
  ['/api/v1/etherscan/943/api', 943],
] as const;

/** All files below a folder, keyed by relative path. */
function readTree(root: string, inside = ''): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(join(root, inside), { withFileTypes: true })) {
    const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
    if (entry.isDirectory()) Object.assign(files, readTree(root, path));
    else files[path] = readFileSync(join(root, path), 'utf8');
  }
  return files;
}

const filesOf = ({ contract }: Placed): Record<string, string> =>
  Object.fromEntries(Object.entries(contract.input.sources).map(([path, { content }]) => [path, content]));

test.each(MOUNTS)('cast source writes the files of a contract found on %s', async (mount, chainId) => {
  const seen = world.twoFaced[chainId];
  const { stderr } = await run('cast', [
    'source',
    seen.address,
    '--explorer-api-url',
    world.url + mount,
    '-d',
    'out',
  ]);
  expect(stderr).toBe('');
  const found = readTree(join(folder, 'out', seen.contract.name));
  const expected = filesOf(seen);
  // For a contract of one file the Etherscan dialect gives no path, and cast makes up a file name.
  if (Object.keys(expected).length === 1) expect(Object.values(found)).toEqual(Object.values(expected));
  else expect(found).toEqual(expected);
});

test('cast source reports that an unverified contract is not verified', async () => {
  const url = `${world.url}/api`;
  const { stdout, stderr } = await run('cast', [
    'source',
    world.unverified.address,
    '--explorer-api-url',
    url,
  ]);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/Contract source code not verified/);
});

test.each(MOUNTS)(
  'cast interface prints every function and event of a contract on %s',
  async (mount, chainId) => {
    const { address, contract } = world.twoFaced[chainId];
    configure(chainId, mount);
    const { stdout, stderr } = await run('cast', ['interface', address, '--chain', String(chainId)]);
    expect(stderr).toBe('');
    expect(stdout).toContain(`interface ${contract.name} {`);
    const names = (kind: string): string[] =>
      contract.abi.filter(({ type }) => type === kind).map(({ name }) => name!);
    const printed = (kind: string): string[] =>
      [...stdout.matchAll(new RegExp(`^ +${kind} (\\w+)\\(`, 'gm'))].map(([, name]) => name!);
    for (const kind of ['function', 'event', 'error'])
      expect(printed(kind).sort()).toEqual(names(kind).sort());
  },
);

test('cast creation-code finds the creation transaction of a contract', async () => {
  const { address, contract } = world.twoFaced[369];
  configure(369, '/api');
  const rpc = ['--rpc-url', world.nodes.get(369)!.url, '--chain', '369', '--etherscan-api-key', 'k'];
  const { stdout } = await run('cast', ['creation-code', address, '--without-args', ...rpc]);
  expect(stdout.trim()).toBe(contract.creation);
});

/** Installs a compiler and the standard library where forge finds them, as for offline work. */
function prepareHome(version: string): string {
  const home = join(folder, 'home');
  const compilers = join(home, '.svm', version);
  mkdirSync(compilers, { recursive: true });
  const solc = JSON.stringify(join(__dirname, '../../../node_modules', `solc-${version}`));
  const script = `#!${process.execPath}
const solc = require(${solc});
if (process.argv.includes('--version')) console.log('solc, the solidity compiler commandline interface\\nVersion: ' + solc.version().replace('Emscripten.clang', 'Linux.g++'));
else process.stdout.write(solc.compile(require('node:fs').readFileSync(0, 'utf8')));
`;
  writeFileSync(join(compilers, `solc-${version}`), script, { mode: 0o755 });
  const library = join(home, 'forge-std');
  mkdirSync(join(library, 'src'), { recursive: true });
  writeFileSync(join(library, 'src/Test.sol'), 'pragma solidity >=0.6.0;\n');
  writeFileSync(
    join(home, '.gitconfig'),
    `[user]\n name = test\n email = test@example.org\n[protocol "file"]\n allow = always\n[url "file://${library}"]\n insteadOf = https://github.com/foundry-rs/forge-std\n`,
  );
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: library,
      env: { PATH: process.env['PATH'], HOME: home },
      stdio: 'ignore',
    });
  git('init');
  git('add', '.');
  git('commit', '-m', 'library');
  return home;
}

test.each([
  ['sourcify', '/v2/contract/369', false],
  ['etherscan', '/api', true],
] as const)(
  'forge clone makes a project from a contract over the %s API, and the project compiles',
  async (source, mount, tellsArguments) => {
    const { address, contract, constructorArguments } = world.vault;
    const home = prepareHome('0.8.30');
    configure(369, '/api');
    const url = source === 'sourcify' ? ['--sourcify-url', world.url + mount] : [];
    const args = ['clone', address, 'cloned', '--chain', '369', '--no-git', '--source', source, ...url];
    const { stdout } = await run('forge', args, home);
    expect(stdout).toContain('Compiler run successful!');
    const project = readTree(join(folder, 'cloned'));
    // For a contract of one file the Etherscan dialect gives no path, and forge makes up a file name below src.
    const written = Object.keys(project).filter((path) => path.startsWith('src/'));
    expect(written.map((path) => project[path])).toEqual([contract.input.sources[contract.path]!.content]);
    const { rpc } = world.nodes.get(369)!;
    const meta = JSON.parse(project['.clone.meta']!) as Record<string, string>;
    const creation = await rpc.call('eth_getTransactionReceipt', [meta['creationTransaction']]);
    expect(field(creation, 'contractAddress')).toBe(address);
    expect(meta).toMatchObject({
      address,
      chainId: 369,
      targetContract: contract.name,
      deployer: field(creation, 'from'),
      // Sourcify's API gives forge no constructor arguments, so forge writes 0x.
      constructorArguments: tellsArguments ? constructorArguments : '0x',
    });
    const built = Object.keys(project).find((path) => /^out\/.*\/Immutable_Vault\.json$/.test(path));
    const compiled = JSON.parse(project[built!]!) as { abi: object };
    expect(compiled.abi).toEqual(contract.abi);
    expect(project['foundry.toml']).toContain('optimizer_runs = 200');
    expect(project['foundry.toml']).toContain('solc_version = "0.8.30"');
  },
);

test('forge clone keeps the compiler settings of a contract of one file, and the project compiles to the same code', async () => {
  const { address, contract } = world.vaultByIr;
  const home = prepareHome('0.8.30');
  configure(369, '/api');
  const args = ['clone', address, 'cloned', '--chain', '369', '--no-git', '--source', 'etherscan'];
  expect((await run('forge', args, home)).stdout).toContain('Compiler run successful!');
  const project = readTree(join(folder, 'cloned'));
  expect(project['foundry.toml']).toContain('via_ir = true');
  const built = Object.keys(project).find((path) => /^out\/.*\/Immutable_Vault\.json$/.test(path));
  const { bytecode } = JSON.parse(project[built!]!) as { bytecode: { object: string } };
  const withoutMetadata = (code: string): string => code.slice(0, -2 * 53);
  expect(withoutMetadata(bytecode.object)).toBe(withoutMetadata(contract.creation));
  const { stderr } = await run('cast', [
    'source',
    address,
    '--explorer-api-url',
    `${world.url}/api`,
    '-d',
    'out',
  ]);
  expect(stderr).toBe('');
  expect(readTree(join(folder, 'out', contract.name))).toEqual(filesOf(world.vaultByIr));
});

// `forge verify-contract` needs the internet before it submits, so the test sends the request that forge would send.
test('the request of forge verify-contract to a Sourcify server verifies a contract, as forge verify-check reports', async () => {
  const home = prepareHome('0.8.30');
  mkdirSync(join(folder, 'src'));
  const source = `// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;
contract Forged { uint256 public forged = 7; }
`;
  writeFileSync(join(folder, 'src/Forged.sol'), source);
  writeFileSync(join(folder, 'foundry.toml'), '[profile.default]\nsolc_version = "0.8.30"\noffline = true\n');
  const built = await run('forge', ['build', '--build-info', '--build-info-path', 'info'], home);
  expect(built.stdout + built.stderr).toContain('Compiler run successful');
  const artifact = JSON.parse(readFileSync(join(folder, 'out/Forged.sol/Forged.json'), 'utf8')) as {
    bytecode: { object: string };
  };
  const contract = { ...world.vault.contract, abi: [], creation: artifact.bytecode.object };
  const { address } = await deploy(world.nodes.get(369)!.rpc, contract, []);
  const [info = ''] = readdirSync(join(folder, 'info'));
  const { input } = JSON.parse(readFileSync(join(folder, 'info', info), 'utf8')) as {
    input: Record<string, object>;
  };
  const answer = await fetch(`${world.url}/v2/verify/369/${getAddress(address)}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      stdJsonInput: input,
      compilerVersion: '0.8.30+commit.73712a01',
      contractIdentifier: 'src/Forged.sol:Forged',
    }),
  });
  expect(answer.status).toBe(202);
  const { verificationId } = (await answer.json()) as { verificationId: string };
  // forge asks for the result during 25 s, and a busy machine may need longer to compile.
  await until(async () => {
    const job = await fetch(`${world.url}/v2/verify/${verificationId}`);
    return ((await job.json()) as { isJobCompleted: boolean }).isJobCompleted;
  });
  const server = ['--chain', '369', '--verifier', 'sourcify', '--verifier-url', world.url];
  const checked = await run('forge', ['verify-check', verificationId, ...server], home);
  expect(checked.stdout + checked.stderr).toMatch(/Contract successfully verified:\s+Status: `exact_match`/);
  const missing = await run('forge', ['verify-check', randomUUID(), ...server], home);
  expect(missing.stdout + missing.stderr).toContain('No verification job found');
});

test('forge verify-check reports an unknown ticket', async () => {
  const { stdout, stderr } = await run('forge', [
    'verify-check',
    '0'.repeat(50),
    '--chain',
    '369',
    '--verifier',
    'etherscan',
    '--verifier-url',
    `${world.url}/api`,
    '--etherscan-api-key',
    'k',
  ]);
  expect(stdout + stderr).toContain('Unknown UID');
});
