/** Submits sources whose imports name files and hosts. The compilers must read none of them. */
import { findCompilers } from '../../../src/contracts/verify/compilers';
import { IMPORTS } from '../../support/hostile/httpPayloads';
import { IS_FULL_ATTACK } from '../../support/run/runs';

const compilers = findCompilers({ niceness: 0 });
/** Old and new compilers resolve imports differently, so the full attack tries several versions. */
const VERSIONS = ['0.8.37', '0.8.30', '0.7.6', '0.6.6', '0.5.16'];
const versions = IS_FULL_ATTACK ? VERSIONS : VERSIONS.slice(0, 1);
const imports = IS_FULL_ATTACK ? IMPORTS : IMPORTS.filter((_, at) => at % 4 === 0);

const errorsShape = (output: unknown): readonly { readonly message: string }[] =>
  (output as { errors?: { message: string }[] }).errors ?? [];

test.each(versions)('compiler %s reads no file and no host that an import names', async (version) => {
  const settings = { outputSelection: { '*': { '*': ['metadata'] } }, remappings: ['etc/=/etc/'] };
  // A compiler reports the first missing source only, so each import is a compilation of its own.
  for (const path of imports) {
    const sources = { 'a.sol': { content: `import ${JSON.stringify(path)}; contract A {}` } };
    const { output } = await compilers.compile(version, { language: 'Solidity', sources, settings });
    const messages = errorsShape(output).map(({ message }) => message);
    expect([path, messages]).toEqual([
      path,
      [expect.stringMatching(/not found|not supported|File outside of allowed|not supplied/i)],
    ]);
    expect(JSON.stringify(output)).not.toMatch(/root:x:|PATH=|"dependencies"/);
  }
});

test.each(versions)('compiler %s reads no source that is given as a URL', async (version) => {
  const urls = ['file:///etc/passwd', '/etc/passwd', 'http://127.0.0.1:1/a.sol', 'bzzr://00'];
  const input = { language: 'Solidity', sources: { 'a.sol': { urls } }, settings: {} };
  const { output } = await compilers.compile(version, input);
  expect(errorsShape(output).length).toBeGreaterThan(0);
  expect(JSON.stringify(output)).not.toMatch(/root:x:/);
});
