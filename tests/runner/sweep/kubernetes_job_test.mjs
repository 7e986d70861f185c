// Checks the manifest of `corun sweep --launcher kubernetes` against the schema of the Job API (batch/v1) that the npm package
// kubernetes-models publishes. It is run from a folder with that package. usage: node kubernetes_job_test.mjs MANIFEST
import { readFileSync } from "node:fs";
import { Job } from "kubernetes-models/batch/v1";

const manifest = process.argv[2];
const job = JSON.parse(readFileSync(manifest));

function complaint(of) {
  try {
    new Job(of).validate();
    return "";
  } catch (error) {
    return String(error.message);
  }
}

// The schema is one: it refuses a number that is text and a container without a name.
const text = structuredClone(job);
text.spec.completions = String(text.spec.completions);
const nameless = structuredClone(job);
delete nameless.spec.template.spec.containers[0].name;
for (const wrong of [text, nameless]) {
  if (complaint(wrong) === "") throw new Error("the schema accepts a wrong manifest");
}
const found = complaint(job);
if (found !== "") throw new Error(`${manifest}: ${found}`);
