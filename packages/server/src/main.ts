const required = 24;

// Checked before anything else is imported: an older Node does not even read the TypeScript of the rest.
if (Number(process.versions.node.split(".")[0]) === required) {
  const { run } = await import("./cli/program.ts");
  await run(process.argv.slice(2));
} else {
  process.stderr.write(
    `svc needs Node ${required}, and this is ${process.version}. Start it with "npm start", which brings its own on Linux (x64, arm64); elsewhere install Node ${required}.\n`,
  );
  process.exitCode = 1;
}

export {};
