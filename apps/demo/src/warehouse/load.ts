import type { ClientBase } from "pg";
import { readData } from "./csv.js";
import { createTables } from "./tables.js";

/** How many rows were loaded, by table. */
export type Loaded = Readonly<Record<"article" | "stock" | "sale" | "box", number>>;

/** Makes the warehouse's tables in an empty database, and fills them from the files. */
export async function loadWarehouse(client: ClientBase): Promise<Loaded> {
  await client.query(createTables);
  const load = async (table: keyof Loaded, columns: string, file: string) => {
    const rows = await readData(file);
    await client.query(insertion(`warehouse.${table}`, columns), turned(rows));
    return rows.length;
  };
  const article = await load("article", "text,text,text,text,int,int,int,int", "articles.csv");
  const stock = await load("stock", "text,text,int", "stock.csv");
  const sale = await load("sale", "int,date,int,text,int", "sales.csv");
  const box = await load("box", "text,text,text,int", "boxes.csv");
  return { article, stock, sale, box };
}

/** One statement for all rows: each column travels as one array. */
function insertion(table: string, columns: string): string {
  const arrays = columns.split(",").map((type, index) => `$${index + 1}::${type}[]`);
  return `INSERT INTO ${table} SELECT * FROM unnest(${arrays.join(", ")})`;
}

function turned(rows: readonly (readonly string[])[]): string[][] {
  const [first = []] = rows;
  return first.map((_, column) => rows.map((row) => row[column] ?? ""));
}
