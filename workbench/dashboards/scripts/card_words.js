// The words of the memory of cards: a band is a card, an item is what it holds in a span of requests.

const WHO = "card", MOMENT = "request";
const timeName = (word) => (word ? `request (${word.trim()})` : "request");
const nameOf = (scene, item) => scene.cards[item % scene.cards.length];

function placeWords(scene, strip, pieces) {
  const of = pieces.map((k) => `${formatted(Math.round(strip.length[k]))} % ${scene.key[strip.fill[k]][0]}`);
  return of.join(", ");
}
