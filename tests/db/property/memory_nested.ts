/** Rows that are written together, in memory, as plain as can be. */
import { EDGES, type Kind } from "../support/shelf.ts";
import type { Code, Data, Write } from "./arbitrary_nested.ts";
import { Refusal } from "./memory_repository.ts";

/** A row: `person` is what its foreign key refers to. */
interface MemoryRow {
  readonly kind: Kind;
  code: string;
  flag: boolean;
  isGone: boolean;
  person: MemoryRow | null;
}

/** A row of the join model. */
interface MemoryLink {
  readonly book: MemoryRow;
  readonly tag: MemoryRow;
  readonly flag: boolean;
  isGone: boolean;
}

type Steps = Readonly<Record<string, unknown>>;

/** A relation of a row that is written. */
interface Place {
  readonly row: MemoryRow;
  readonly isNew: boolean;
  readonly steps: Steps;
  readonly to: Kind;
}

/** Rows that are written as repositories do: each write has all of its effects, or none. */
export class MemoryShelf {
  readonly #isKeyed: boolean;
  #rows: MemoryRow[] = [];
  #links: MemoryLink[] = [];
  #scope: { readonly flag?: boolean } = {};

  /** Creates no rows yet; keyed ones link two rows once. */
  constructor({ isKeyed }: { readonly isKeyed: boolean }) {
    this.#isKeyed = isKeyed;
  }

  /** Returns a function that restores the present rows. */
  save(): () => void {
    const { rows, links } = structuredClone({ rows: this.#rows, links: this.#links });
    return () => {
      this.#rows = rows;
      this.#links = links;
    };
  }

  /**
   * Writes a row, and what its data has of related rows.
   *
   * @throws {Refusal} if it cannot be done; nothing is then
   */
  write(write: Write): void {
    const restore = this.save();
    this.#scope = write.scope;
    try {
      this.#write(write);
    } catch (error) {
      restore();
      throw error;
    }
  }

  /** Returns all rows as texts, sorted. */
  toLines(): readonly string[] {
    const rows = this.#rows.map(({ kind, person, ...row }) =>
      lineOf(kind, { ...row, of: [row.code, ...person ? [person.code] : []] })
    );
    const links = this.#links.map(({ book, tag, ...link }) =>
      lineOf("bookTag", { ...link, of: [book.code, tag.code] })
    );
    return [...rows, ...links].toSorted();
  }

  #write(write: Write): void {
    const { kind } = write;
    if (write.do === "create") return void this.#create(kind, write.data);
    const row = this.#find(kind, write.where);
    if (!row && write.do === "upsert") this.#create(kind, { ...write.create, ...write.where });
    else if (!row) throw new Refusal("RowNotFound");
    else if (write.do === "delete") row.isGone = true;
    else this.#update(row, write.do === "update" ? write.data : write.update);
  }

  #create(kind: Kind, data: Data, person: MemoryRow | null = null): MemoryRow {
    const parent = this.#parent(kind, data);
    const row: MemoryRow = {
      kind,
      code: "",
      flag: true,
      isGone: false,
      person: null,
    };
    this.#set(row, { ...data, ...this.#scope }, parent === undefined ? person : parent);
    this.#rows.push(row);
    this.#writeRelated(row, { data, isNew: true });
    return row;
  }

  #update(row: MemoryRow, data: Data): void {
    const parent = this.#parent(row.kind, data);
    this.#set(row, data, parent === undefined ? row.person : parent);
    this.#writeRelated(row, { data, isNew: false });
  }

  /** Sets the columns of a row. */
  #set(row: MemoryRow, { code = row.code, flag = row.flag }: Data, person: MemoryRow | null) {
    const others = this.#rows.filter((it) => it !== row && it.kind === row.kind);
    if (others.some((it) => it.code === code)) throw new Refusal("UniqueViolation", [["code"]]);
    const isTaken = row.kind === "card" && person && others.some((it) => it.person === person);
    if (isTaken) throw new Refusal("UniqueViolation", [["person_id"]]);
    Object.assign(row, { code, flag, person });
  }

  /** Writes the row that a row refers to: `undefined` if data does not say. */
  #parent(kind: Kind, data: Data): MemoryRow | null | undefined {
    for (const [name, [to, how]] of Object.entries(EDGES[kind])) {
      const steps = data[name] as Steps | undefined;
      if (how !== "own" || !steps) continue;
      if ("disconnect" in steps) return null;
      if ("connect" in steps) return this.#named(to, steps.connect as Code);
      if ("create" in steps) return this.#create(to, steps.create as Data);
      return this.#findOrCreate(to, steps.connectOrCreate);
    }
    return undefined;
  }

  #writeRelated(
    row: MemoryRow,
    { data, isNew }: { readonly data: Data; readonly isNew: boolean },
  ): void {
    for (const name of Object.keys(data)) {
      const [to, how] = EDGES[row.kind][name] ?? [];
      if (to === undefined || how === "own") continue;
      const place = { row, isNew, steps: data[name] as Steps, to };
      if (how === "join") this.#writeLinks(place);
      else if (how === "many") this.#writeChildren(place);
      else this.#writeChild(place);
    }
  }

  #writeChildren({ row, steps, to }: Place): void {
    const children = () => this.#visible(to).filter(({ person }) => person === row);
    const connect = (rows: readonly MemoryRow[]) => rows.forEach((it) => this.#set(it, {}, row));
    const disconnect = (rows: readonly MemoryRow[]) => rows.forEach((it) => it.person = null);
    if (steps.set) {
      const kept = this.#allNamed(to, steps.set);
      disconnect(children().filter((it) => !kept.includes(it)));
      connect(kept);
    }
    const named = listOf<Code>(steps.disconnect).map((where) => this.#find(to, where));
    disconnect(children().filter((it) => named.includes(it)));
    connect(this.#allNamed(to, steps.connect));
    for (const value of listOf(steps.connectOrCreate)) {
      connect([this.#findOrCreate(to, value, row)]);
    }
    for (const data of listOf<Data>(steps.create)) this.#create(to, data, row);
  }

  #writeChild({ row, isNew, steps, to }: Place): void {
    const kept = steps.connect ? this.#named(to, steps.connect as Code) : undefined;
    if (!isNew) {
      for (const it of this.#visible(to)) if (it.person === row && it !== kept) it.person = null;
    }
    if (kept) this.#set(kept, {}, row);
    if (steps.connectOrCreate) {
      this.#set(this.#findOrCreate(to, steps.connectOrCreate, row), {}, row);
    }
    if (steps.create) this.#create(to, steps.create as Data, row);
  }

  #writeLinks({ row, steps, to }: Place): void {
    const other = (link: MemoryLink) => row.kind === "book" ? link.tag : link.book;
    const links = () =>
      this.#links.filter((link) => [link.book, link.tag].includes(row) && this.#sees(link));
    const add = (rows: readonly MemoryRow[]) => {
      for (const it of rows) {
        if (links().some((link) => other(link) === it)) continue;
        const [book, tag] = row.kind === "book" ? [row, it] : [it, row];
        const same = this.#links.find((link) => link.book === book && link.tag === tag);
        if (same && this.#isKeyed) {
          if (same.flag !== (this.#scope.flag ?? same.flag)) {
            throw new Refusal("UniqueViolation", [["book_id", "tag_id"]]);
          }
          same.isGone = false;
          continue;
        }
        this.#links.push({ book, tag, flag: this.#scope.flag ?? true, isGone: false });
      }
    };
    const remove = (isRemoved: (row: MemoryRow) => boolean) => {
      for (const link of links()) {
        if (this.#sees(other(link)) && isRemoved(other(link))) link.isGone = true;
      }
    };
    if (steps.set) {
      const kept = this.#allNamed(to, steps.set);
      remove((it) => !kept.includes(it));
      add(kept);
    }
    const named = listOf<Code>(steps.disconnect).map((where) => this.#find(to, where));
    remove((it) => named.includes(it));
    const connected = [...this.#allNamed(to, steps.connect)];
    for (const value of listOf(steps.connectOrCreate)) {
      connected.push(this.#findOrCreate(to, value));
    }
    add(connected);
    add(listOf<Data>(steps.create).map((data) => this.#create(to, data)));
  }

  #findOrCreate(kind: Kind, value: unknown, person?: MemoryRow): MemoryRow {
    const { where, create } = value as { readonly where: Code; readonly create: Data };
    return this.#find(kind, where) ?? this.#create(kind, { ...create, ...where }, person);
  }

  #allNamed(kind: Kind, value: unknown): readonly MemoryRow[] {
    return [...new Set(listOf<Code>(value).map((where) => this.#named(kind, where)))];
  }

  #named(kind: Kind, where: Code): MemoryRow {
    const row = this.#find(kind, where);
    if (row) return row;
    throw new Refusal("RowNotFound");
  }

  #find(kind: Kind, { code }: Code): MemoryRow | undefined {
    return this.#visible(kind).find((row) => row.code === code);
  }

  #visible(kind: Kind): readonly MemoryRow[] {
    return this.#rows.filter((row) => row.kind === kind && this.#sees(row));
  }

  #sees({ flag, isGone }: Pick<MemoryRow, "flag" | "isGone">): boolean {
    return !isGone && (this.#scope.flag === undefined || this.#scope.flag === flag);
  }
}

/** Returns a row as a text: the codes by which it is known, and those it refers to. */
export function lineOf(
  kind: string,
  { of, flag, isGone }: {
    readonly of: readonly string[];
    readonly flag: boolean;
    readonly isGone: boolean;
  },
): string {
  return `${kind} ${of.join(" ")} ${flag}${isGone ? " gone" : ""}`;
}

function listOf<T = unknown>(value: unknown): readonly T[] {
  return value === undefined ? [] : [value].flat() as T[];
}
