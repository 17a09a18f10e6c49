/** Prints one of everything that keeps a secret, in every way that a console has. */
import process from "node:process";
import { TokenSetDto } from "../../src/oauth2/mod.ts";
import { secretHolders, type Secrets } from "./secret_holders.ts";

const secrets: Secrets = JSON.parse(process.env.FW_SECRETS ?? "");
const { accessToken, refreshToken, idToken } = secrets;
const holders = await secretHolders(secrets);
const dto = new TokenSetDto({ accessToken, refreshToken, idToken, tokenType: "bearer" });
const all: Readonly<Record<string, object>> = { ...holders, dto };
for (const [name, holder] of Object.entries(all)) {
  console.log(`== ${name}`);
  console.log(holder);
  console.log("%o %O %s", holder, holder, holder);
  console.log([holder], { holder }, new Map([[holder, new Set([holder])]]));
  console.dir(holder, { depth: 20, showHidden: true });
  console.error(new Error("failed", { cause: holder }));
}
console.table(Object.values(holders));
console.log(all);
console.log("== all is printed");
