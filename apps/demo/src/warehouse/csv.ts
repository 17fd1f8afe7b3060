import { readFile } from "node:fs/promises";

/** Where the warehouse's files are, as seen from the built program and from its sources. */
const dataFolder = new URL("../../data/", import.meta.url);

/**
 * Reads one file of the warehouse: the fields of every row, header left out.
 * @throws {Error} which names file and line when a row has not as many fields as the header
 */
export async function readData(name: string): Promise<string[][]> {
  return parseCsv(await readFile(new URL(name, dataFolder), "utf8"), name);
}

/** As {@link readData}, for text that is there already. Fields may be quoted, without line breaks inside. */
export function parseCsv(text: string, name: string): string[][] {
  const [header = "", ...lines] = text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
  const columns = fieldsOf(header).length;
  return lines.map((line, index) => {
    const fields = fieldsOf(line);
    if (fields.length !== columns)
      throw new Error(
        `${name}, line ${index + 2}: ${fields.length} fields instead of ${columns}. Make the files anew with scripts/generate-data.mjs.`,
      );
    return fields;
  });
}

function fieldsOf(line: string): string[] {
  const found = `,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return [...found].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "");
}
