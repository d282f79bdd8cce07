import { graphql } from '../../kit/api/graphql.ts';
import '../../kit/api/page-info.ts';

export const LastDeliveries = graphql(`
  query LastDeliveries($id: ID!) {
    webhook(id: $id) { id deliveries(first: 100) { edges { node { id status } } } }
  }
`);

export const FailedDeliveries = graphql(`
  query FailedDeliveries($id: ID!, $after: String) {
    webhook(id: $id) {
      id
      deliveries(first: 100, after: $after, filter: { status: FAILED }) {
        edges { node { id createdAt } }
        pageInfo { ...PageInfo }
      }
    }
  }
`);
