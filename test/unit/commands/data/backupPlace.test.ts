/** Tests how messages and logs show the place of a backup: its location, never its credentials. */
import { placeToWrite } from '../../../../src/commands/data/backupPlace';

const shownOf = async (place: string): Promise<string> => (await placeToWrite(place, '/data', null)).shown;

test('the place of a backup is shown without keys, passwords and signatures', async () => {
  const shown = await shownOf("S3('https://me:p4ss@bucket.example/2026', 'AKIAKEY', 'S3CRET')");
  expect(shown).toContain('bucket.example/2026');
  for (const secret of ['p4ss', 'AKIAKEY', 'S3CRET']) expect(shown).not.toContain(secret);
  expect(await shownOf("Disk('backups', 'nightly')")).toBe("Disk('backups', 'nightly')");
  expect(await shownOf("File('nightly')")).toBe("File('nightly')");
});
