import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readData } from "../warehouse/csv.js";
import type { Quote } from "../warehouse/model.js";
import { type Resolvable, withResolvers } from "./with-resolvers.js";

export type Place = "suppliers" | "scale";

/** Supplier feed and scale: a real HTTP server, which a scene can shut, or let wait. */
export interface OutsideWorld {
  readonly url: string;
  /**
   * From now on answers of `place` are held back, to one replica or to all. So a scene keeps a run where
   * it wants it, for exactly as long as it wants.
   */
  hold(place: Place, label?: string): Gate;
  /** The feed hangs up on everybody, until it is opened again. */
  shut(place: Place): void;
  reopen(place: Place): void;
  close(): Promise<void>;
}

/** A place that holds its answers back. */
export interface Gate {
  /** Resolves when `label` waits here, at once when it does already. */
  reachedBy(label: string): Promise<void>;
  /** Lets everybody through, also those who come later. */
  open(): void;
}

interface HeldGate extends Gate {
  holds(place: Place, label: string): boolean;
  wait(label: string): Promise<void>;
}

/** Starts supplier feed and scale on a free port of this machine, with the answers of the data files. */
export async function openOutsideWorld(): Promise<OutsideWorld> {
  const [quotes, grams] = await Promise.all([readQuotes(), readScale()]);
  const gates = new Set<HeldGate>();
  const shut = new Set<Place>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://outside");
    const place: Place = url.pathname === "/scale" ? "scale" : "suppliers";
    if (shut.has(place)) {
      request.socket.destroy();
      return;
    }
    const body = place === "scale" ? await bodyOf(request) : undefined;
    const label = String(request.headers["x-replica"]);
    await Promise.all(
      [...gates].filter((gate) => gate.holds(place, label)).map((gate) => gate.wait(label)),
    );
    const found =
      place === "scale"
        ? weights(grams, body)
        : (quotes.get(url.searchParams.get("name") ?? "") ?? []);
    response.setHeader("content-type", "application/json").setHeader("connection", "close");
    response.end(JSON.stringify(found));
  }

  const server = createServer((request, response) => {
    // Whoever was killed or aborted meanwhile has hung up.
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    hold(place, only) {
      const gate = heldGate(place, only, () => gates.delete(gate));
      gates.add(gate);
      return gate;
    },
    shut: (place) => void shut.add(place),
    reopen: (place) => void shut.delete(place),
    async close() {
      for (const gate of [...gates]) gate.open();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function heldGate(place: Place, only: string | undefined, forget: () => void): HeldGate {
  const arrivals = new Map<string, Resolvable<void>>();
  const opened = withResolvers<void>();
  const arrivalOf = (label: string) => {
    const known = arrivals.get(label) ?? withResolvers<void>();
    arrivals.set(label, known);
    return known;
  };
  return {
    holds: (at, label) => at === place && (only === undefined || only === label),
    wait(label) {
      arrivalOf(label).resolve();
      return opened.promise;
    },
    reachedBy: (label) => arrivalOf(label).promise,
    open() {
      forget();
      opened.resolve();
    },
  };
}

async function readQuotes(): Promise<Map<string, Quote[]>> {
  const bySupplier = new Map<string, Quote[]>();
  for (const [sku = "", supplier = "", days, price, available] of await readData("quotes.csv")) {
    const quote = {
      sku,
      leadTimeDays: Number(days),
      priceCents: Number(price),
      available: Number(available),
    };
    const known = bySupplier.get(supplier);
    if (known) known.push(quote);
    else bySupplier.set(supplier, [quote]);
  }
  return bySupplier;
}

async function readScale(): Promise<Map<string, number>> {
  const rows = await readData("scale.csv");
  return new Map(rows.map(([box = "", grams]) => [box, Number(grams)]));
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return JSON.parse(text);
}

function weights(grams: ReadonlyMap<string, number>, boxes: unknown): Record<string, number> {
  if (!Array.isArray(boxes)) return {};
  const known = boxes.flatMap((box): [string, number][] => {
    const weight = grams.get(String(box));
    return weight === undefined ? [] : [[String(box), weight]];
  });
  return Object.fromEntries(known);
}
