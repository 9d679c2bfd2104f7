// Rank the pages of a built site for questions on standard input, by the site's own search: no browser is needed.
"use strict";
const fs = require("fs");
const vm = require("vm");

const folder = process.argv[2];
const page = { getElementById: () => null, querySelectorAll: () => [], addEventListener() {}, documentElement: { dataset: {} } };
const context = {
  document: page,
  DOCUMENTATION_OPTIONS: { BUILDER: "html" },
  SPHINX_HIGHLIGHT_ENABLED: false,
  _ready() {},
  _: (words) => words,
};
context.window = context;
vm.createContext(context);
for (const script of ["_static/searchtools.js", "_static/language_data.js", "searchindex.js"])
  vm.runInContext(fs.readFileSync(`${folder}/${script}`, "utf8"), context, script);

function order(question) {
  context.question = question;
  const results = vm.runInContext("Search._performSearch(...Search._parseQuery(question))", context);
  return results.reverse().map((result) => result[0]);
}

const questions = JSON.parse(fs.readFileSync(0, "utf8"));
console.log(JSON.stringify(questions.map(order)));
