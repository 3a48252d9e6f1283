/** The importer of a repository folder reads plain files only. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openSourcifyFolder } from '../../../src/contracts/import/sourcifyFolder';

const FOLDERS = ['1', '2', '3', '4', '5', '6'].map((digit) => `0x${digit.repeat(40)}`);
const METADATA = JSON.stringify({
  compiler: { version: '0.8.30' },
  language: 'Solidity',
  output: { abi: [] },
  settings: { compilationTarget: { 'a.sol': 'A' } },
  sources: { 'a.sol': { keccak256: `0x${'0'.repeat(64)}` } },
});
const never = new AbortController().signal;

let home: string;
let chain: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'candlehouse-folder-'));
  chain = join(home, 'contracts/full_match/369');
  for (const name of FOLDERS) {
    mkdirSync(join(chain, name, 'sources'), { recursive: true });
    writeFileSync(join(chain, name, 'metadata.json'), METADATA);
  }
});

afterEach(() => rmSync(home, { recursive: true }));

/** Moves a file or folder out of the repository and leaves a symbolic link. */
function link(path: string): void {
  const outside = join(home, `outside-${Math.random()}`);
  renameSync(path, outside);
  symlinkSync(outside, path);
}

/** The reason why each contract is refused, by the first digit of its address. */
async function readAll(): Promise<Record<string, string>> {
  const reasons: Record<string, string> = {};
  for await (const found of (await openSourcifyFolder(home, [369])).list(null, never)) {
    const digit = found.address.slice(2, 3);
    reasons[digit] = await found.read(never).then(
      () => '',
      (error: unknown) => String(error),
    );
  }
  return reasons;
}

test('symbolic links and pipes are refused in every place of a contract', async () => {
  link(join(chain, FOLDERS[0]!, 'metadata.json'));
  link(join(chain, FOLDERS[1]!, 'sources'));
  link(join(chain, FOLDERS[2]!));
  rmSync(join(chain, FOLDERS[3]!, 'metadata.json'));
  execFileSync('mkfifo', [join(chain, FOLDERS[3]!, 'metadata.json')]);
  writeFileSync(join(chain, FOLDERS[4]!, 'sources/a.sol'), 'contract A {}');
  link(join(chain, FOLDERS[4]!, 'sources/a.sol'));
  expect(await readAll()).toEqual({
    1: expect.stringContaining('metadata.json is not a plain file'),
    2: expect.stringContaining('sources is not a plain folder'),
    3: expect.stringContaining(`${FOLDERS[2]!} is not a plain folder`),
    4: expect.stringContaining('metadata.json is not a plain file'),
    // A link among the sources counts as missing.
    5: expect.stringContaining('the source file a.sol is missing'),
    6: expect.stringContaining('the source file a.sol is missing'),
  });
});

test("a symbolic link in place of a chain's folder counts as an empty folder", async () => {
  link(chain);
  expect(await readAll()).toEqual({});
});
