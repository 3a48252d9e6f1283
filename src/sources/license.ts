/** Licences as SPDX identifiers. */

/** The identifier that a source file gives, as https://docs.soliditylang.org/en/latest/layout-of-source-files.html says. */
export function findLicense(content: string): string | null {
  return /SPDX-License-Identifier:[ \t]*([\w.+-]{1,60})/.exec(content)?.[1] ?? null;
}
