/** The schemas of the peers that validate with valibot. */
import * as v from "valibot";

const WholeNumber = v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number));

export const Message = v.object({ message: v.string() });
export const ItemParams = v.object({ id: WholeNumber });
export const ItemQuery = v.object({
  limit: v.pipe(WholeNumber, v.minValue(1), v.maxValue(100)),
  sort: v.picklist(["name", "created"]),
});
export const Item = v.object({ id: v.number(), limit: v.number(), sort: v.string() });
export const NewOrder = v.object({
  customer: v.object({
    name: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
    email: v.pipe(v.string(), v.email()),
  }),
  lines: v.pipe(
    v.array(v.object({
      sku: v.pipe(v.string(), v.regex(/^[a-z]+-\d{4}$/)),
      quantity: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(99)),
      price: v.pipe(v.number(), v.integer(), v.minValue(0)),
    })),
    v.minLength(1),
    v.maxLength(500),
  ),
  note: v.optional(v.pipe(v.string(), v.maxLength(500))),
});
export const UserParams = v.object({ id: WholeNumber });
export const UsersQuery = v.object({
  take: v.pipe(WholeNumber, v.minValue(1), v.maxValue(100)),
});
export const NewUser = v.object({
  email: v.pipe(v.string(), v.email()),
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
});
export const UserRow = v.object({
  id: v.number(),
  email: v.string(),
  name: v.string(),
  active: v.boolean(),
});
export const Receipt = v.object({ lines: v.number(), total: v.number() });
export const Rows = v.array(v.object({
  id: v.number(),
  name: v.string(),
  email: v.string(),
  active: v.boolean(),
  score: v.number(),
  tags: v.array(v.string()),
}));
