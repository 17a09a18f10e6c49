/** What every peer answers with and is asked with. */

/** An order that a client places. */
export interface NewOrder {
  readonly customer: { readonly name: string; readonly email: string };
  readonly lines: readonly {
    readonly sku: string;
    readonly quantity: number;
    readonly price: number;
  }[];
  readonly note?: string;
}

/** A row of a list, as a database would return it. */
export interface Row {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly active: boolean;
  readonly score: number;
  readonly tags: readonly string[];
}

/** A user, as clients receive it. */
export interface User {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly active: boolean;
}

/** The body of `GET /text`. */
export const TEXT = "Hello, world!";

/** The route whose sum every peer must compute the same. */
export function receipt({ lines }: NewOrder): { readonly lines: number; readonly total: number } {
  let total = 0;
  for (const { quantity, price } of lines) total += quantity * price;
  return { lines: lines.length, total };
}

/** Rows with a member that no response schema declares, and which must be left out. */
export function storedRows(count: number): readonly (Row & { readonly password: string })[] {
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    name: `User ${index + 1}`,
    email: `user${index + 1}@example.com`,
    active: index % 3 !== 0,
    score: index * 1.5,
    tags: ["red", "green", "blue"].slice(index % 3),
    password: `secret ${index + 1}`,
  }));
}

/** What clients receive of the rows. */
export function sentRows(count: number): readonly Row[] {
  return storedRows(count).map(({ password: _, ...row }) => row);
}

/** An order of a body of 195 bytes. */
export const SMALL_ORDER: NewOrder = {
  customer: { name: "Alice Liddell", email: "alice@example.com" },
  lines: [
    { sku: "book-0001", quantity: 2, price: 1250 },
    { sku: "lamp-0002", quantity: 1, price: 4900 },
  ],
  note: "please ring twice.",
};

/** An order of a body of 10 KB (10 240 bytes, to within a line). */
export const LARGE_ORDER: NewOrder = {
  customer: { name: "Alice Liddell", email: "alice@example.com" },
  lines: Array.from({ length: 226 }, (_, index) => ({
    sku: `book-${String(index).padStart(4, "0")}`,
    quantity: 1 + index % 9,
    price: 100 + index,
  })),
};
