/** Answers every message; ends as told. */
process.on("message", (message) => {
  if (message === "end") {
    console.error("ending as told");
    process.exitCode = 3;
    process.disconnect();
    return;
  }
  process.send({ echo: message, args: process.argv.slice(2), greeting: process.env.GREETING });
});
console.log("echo is ready");
process.send("ready");
