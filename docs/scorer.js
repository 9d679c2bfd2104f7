/* How results of a search are ranked: Sphinx reads this file in place of its own scores.
   A page that a person wrote comes before an entry of the reference, at equal matches. */
var Scorer = {
  score: ([docname, title, anchor, description, score, filename, kind]) => score + bonusOf(docname, anchor, kind),
  objNameMatch: 11,
  objPartialMatch: 2,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

/* Folders, and what a result in each gains or loses. Pages in no folder are guides. */
const BONUS = { reference: 0, notebooks: -1, mechanisms: 6, verdict: -4, specification: -4, deviations: -6 };

function bonusOf(docname, anchor, kind) {
  if (docname === "changes" || docname === "contributing") return -6;
  const folder = docname.includes("/") ? docname.split("/")[0] : "";
  const part = kind === "text" && docname.endsWith("/index") ? -2 : 0;
  return (folder === "" ? 8 : BONUS[folder] ?? 0) + part;
}

/* A page is one result, whether an entry of the index, its title or its text matches; its sections are others. */
function eachPageOnce(ascending) {
  const seen = new Set();
  const kept = [...ascending].reverse().filter(([docname, title, anchor, description, score, filename, kind]) => {
    const section = kind !== "index" && anchor !== "";
    if (section) return true;
    const first = !seen.has(docname);
    seen.add(docname);
    return first;
  });
  return kept.reverse();
}

if (typeof Search !== "undefined") {
  const perform = Search._performSearch;
  Search._performSearch = (...words) => eachPageOnce(perform(...words));
}
