/** Two applications in one process; the second takes a second longer to stop. */
import { setTimeout as delay } from "node:timers/promises";
import { stopGracefully } from "../../src/runtime/graceful.ts";

stopGracefully({ onStop: () => Promise.resolve(console.log("first stopped")) });
stopGracefully({
  onStop: async () => {
    await delay(1_000);
    console.log("second stopped");
  },
});
const alive = setInterval(() => {}, 1_000);
process.on("exit", () => clearInterval(alive));
console.log("ready");
