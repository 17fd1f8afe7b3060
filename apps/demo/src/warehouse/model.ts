/** What the warehouse is made of. Money is in whole cents, weight in whole grams. */

/** One thing on the shelf, with what has happened to it. */
export interface ArticleState {
  readonly sku: string;
  readonly supplier: string;
  /** Suppliers sell whole packs only. */
  readonly packSize: number;
  /** Never plan to have fewer than this. */
  readonly minStock: number;
  /** Over all bins. */
  readonly onHand: number;
  /** Units sold in each week, the oldest first. */
  readonly soldByWeek: readonly number[];
}

/** What a supplier answers when asked for one article. */
export interface Quote {
  readonly sku: string;
  readonly leadTimeDays: number;
  readonly priceCents: number;
  readonly available: number;
}

/** What the next week will probably ask of one article. */
export interface Demand {
  readonly sku: string;
  /** Expected units in a week. */
  readonly perWeek: number;
  /** How far off such a forecast was, as a standard deviation in units. */
  readonly deviation: number;
}

export interface OrderLine {
  readonly sku: string;
  readonly quantity: number;
  readonly priceCents: number;
  /** Units that were wanted and that the supplier does not have. */
  readonly shortBy: number;
}

/** One purchase order: everything that is needed from one supplier. */
export interface PurchaseOrder {
  readonly supplier: string;
  readonly lines: readonly OrderLine[];
  readonly totalCents: number;
}

/** A packed box as its label says. */
export interface Box {
  readonly box: string;
  readonly bin: string;
  readonly sku: string;
  readonly quantity: number;
  readonly unitWeightGrams: number;
}

/** What the books say of one article in one bin. */
export interface BinStock {
  readonly sku: string;
  readonly bin: string;
  readonly onHand: number;
}

/** Where shelf and books differ. */
export type Finding =
  | {
      readonly kind: "missing" | "surplus";
      readonly sku: string;
      readonly bin: string;
      readonly units: number;
    }
  | {
      readonly kind: "wrong-bin";
      readonly sku: string;
      readonly bin: string;
      readonly box: string;
      readonly units: number;
    }
  | {
      readonly kind: "short-box";
      readonly sku: string;
      readonly bin: string;
      readonly box: string;
      readonly units: number;
    };
